import type { ReactElement } from 'react';
import { span } from '../lib/span';
import { t } from '../messages';
import { Notice } from '../ui/Notice';

export function Removed({ title, stayMs }: { title: string; stayMs: number }): ReactElement {
  return (
    <Notice room={title} title={t('removed.title')}>
      <p>{t('span.that', { span: span(stayMs) })}</p>
      <p>{t('removed.text')}</p>
    </Notice>
  );
}
