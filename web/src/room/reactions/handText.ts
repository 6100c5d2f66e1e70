import { t } from '../../messages';

/** Says who raised a hand and, for another room, where. */
export const handText = (hand: { name: string } | { name: string; roomName: string }): string =>
  'roomName' in hand ? t('hand.oneIn', { name: hand.name, room: hand.roomName }) : t('hand.one', { name: hand.name });
