import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Icon } from '../ui/Icon';

/** The guest link, to be read and to be copied. */
export function Invite({ link }: { link: string }): ReactElement {
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const text = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    if (copied !== 'yes') return;
    const timer = setTimeout(() => setCopied(null), 3_000);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(link);
      setCopied('yes');
    } catch {
      // Not allowed, or a page without TLS: the visitor's own hand can.
      text.current?.select();
      setCopied('no');
    }
  }

  return (
    <div className="invite">
      <label htmlFor={id} className="small quiet">
        {t('invite.link')}
      </label>
      <p className={copied === 'no' ? 'small quiet invite-said long' : 'small quiet invite-said'} role="status">
        {copied === 'yes' && t('invite.copied')}
        {copied === 'no' && t('invite.byHand')}
      </p>
      <input ref={text} id={id} className="invite-link" dir="ltr" readOnly value={link} onFocus={(event) => event.target.select()} />
      <button type="button" className="secondary" onClick={() => void copy()}>
        <Icon name={copied === 'yes' ? 'check' : 'copy'} />
        {t('invite.copy')}
      </button>
    </div>
  );
}
