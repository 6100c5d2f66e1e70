import { Component, type ReactNode } from 'react';
import { t } from '../messages';
import { Notice } from './Notice';

interface Props {
  children: ReactNode;
}

/** Shows a page with a way to continue when rendering fails. */
export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <Notice
        title={t('broken.title')}
        actions={
          <button type="button" className="primary" onClick={() => location.reload()}>
            {t('refused.reload')}
          </button>
        }
      >
        <p>{t('broken.text')}</p>
      </Notice>
    );
  }
}
