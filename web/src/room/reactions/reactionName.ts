import { t } from '../../messages';
import type { Reaction } from './reactions';

const names = {
  thumbs_up: 'react.thumbs_up',
  heart: 'react.heart',
  laughing: 'react.laughing',
  clapping: 'react.clapping',
  surprised: 'react.surprised',
} as const;

export const reactionName = (reaction: Reaction): string => t(names[reaction]);
