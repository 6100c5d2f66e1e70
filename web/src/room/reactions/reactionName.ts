import { t } from '../../messages';
import type { Reaction } from './reactions';

export const reactionKeys = {
  thumbs_up: 'react.thumbs_up',
  heart: 'react.heart',
  laughing: 'react.laughing',
  clapping: 'react.clapping',
  surprised: 'react.surprised',
} as const;

export const reactionName = (reaction: Reaction): string => t(reactionKeys[reaction]);
