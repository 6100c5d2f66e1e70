import type { ReactElement } from 'react';
import type { Desk } from '../media/desk';
import type { Studio } from '../media/studio';
import { t } from '../messages';
import { Switch } from './Switch';

/** Blurs what is behind the visitor, where the browser itself can. */
export function BlurSwitch({ desk: { blur }, studio }: { desk: Desk; studio: Studio }): ReactElement | null {
  return blur === null ? null : <Switch label={t('camera.blur')} on={blur} onChange={(on) => void studio.setBlur(on)} />;
}
