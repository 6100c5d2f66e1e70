import type { ReactElement } from 'react';
import { t } from '../messages';

/** Says that a room belongs to a test project. */
export function TestMark(): ReactElement {
  return <p className="test-mark">{t('lobby.test')}</p>;
}
