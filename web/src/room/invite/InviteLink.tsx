import { type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';

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
  const [copyResult, setCopyResult] = useState<'yes' | 'no' | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    if (copyResult !== 'yes') return;
    const timer = setTimeout(() => setCopyResult(null), 3_000);
    return () => clearTimeout(timer);
  }, [copyResult]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(link);
      setCopyResult('yes');
    } catch {
      // Not allowed, or a page without TLS: select the link, so that the visitor can copy it.
      input.current?.select();
      setCopyResult('no');
    }
  }

  return (
    <div className="invite">
      <label htmlFor={id} className="small quiet">
        {label}
      </label>
      <p className={copyResult === 'no' ? 'small quiet invite-status own-line' : 'small quiet invite-status'} role="status">
        {copyResult === 'yes' && t('invite.copied')}
        {copyResult === 'no' && t('invite.byHand')}
      </p>
      <input ref={input} id={id} className="invite-link" dir="ltr" readOnly value={link} onFocus={(event) => event.target.select()} />
      <button type="button" className="secondary" onClick={() => void copy()}>
        <Icon name={copyResult === 'yes' ? 'check' : 'copy'} />
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
