import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Icon } from '../ui/Icon';

interface Props {
  link: string;
  label: string;
  copyLabel: string;
}

// The type says that it always exists; many browsers cannot share.
const { share }: { share?: Navigator['share'] } = navigator;
const canShareLink = typeof share === 'function';

/** A link that can be read, copied and shared. */
export function InviteLink({ link, label, copyLabel }: Props): ReactElement {
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
      // Not allowed, or a page without TLS: select the link, so that the visitor can copy it.
      text.current?.select();
      setCopied('no');
    }
  }

  return (
    <div className="invite">
      <label htmlFor={id} className="small quiet">
        {label}
      </label>
      <p className={copied === 'no' ? 'small quiet invite-said long' : 'small quiet invite-said'} role="status">
        {copied === 'yes' && t('invite.copied')}
        {copied === 'no' && t('invite.byHand')}
      </p>
      <input ref={text} id={id} className="invite-link" dir="ltr" readOnly value={link} onFocus={(event) => event.target.select()} />
      <button type="button" className="secondary" onClick={() => void copy()}>
        <Icon name={copied === 'yes' ? 'check' : 'copy'} />
        {copyLabel}
      </button>
      {canShareLink && (
        <button type="button" className="secondary invite-share" onClick={() => void navigator.share({ url: link }).catch(() => undefined)}>
          {t('invite.share')}
        </button>
      )}
    </div>
  );
}
