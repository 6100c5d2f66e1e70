import type { ReactElement, ReactNode } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';

/** A banner that stays until the visitor dismisses it. */
export function DismissibleBanner({ children, onDismiss }: { children: ReactNode; onDismiss: () => void }): ReactElement {
  return (
    <div className="banner dismissible">
      <div className="banner-text">{children}</div>
      <button type="button" className="round" aria-label={t('banner.dismiss')} onClick={onDismiss}>
        <Icon name="close" />
      </button>
    </div>
  );
}
