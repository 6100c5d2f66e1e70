import { useEffect, useState, type ReactElement } from 'react';
import { count, t } from '../messages';

const patience = 10;

/** Redirects to the organizer's page after a countdown, which the visitor can stop. */
export function RedirectNotice({ url, held }: { url: string; held: boolean }): ReactElement | null {
  const [staying, setStaying] = useState(false);
  const [left, setLeft] = useState(patience);
  const where = hostOf(url);
  // Only http and https addresses.
  const going = where !== null && !staying && !held;
  useEffect(() => {
    if (!going) return;
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1_000);
    return () => clearInterval(timer);
  }, [going]);
  useEffect(() => {
    if (going && left === 0) location.assign(url);
  }, [going, left, url]);

  if (where === null) return null;
  return (
    <div className="onward">
      {/* Announced once, not every second. */}
      {going && (
        <>
          <p aria-hidden="true">{count('onward.soon', left, { where })}</p>
          <p className="sr-only" role="status">
            {count('onward.soon', patience, { where })}
          </p>
        </>
      )}
      <p className="onward-ways">
        <a href={url}>{t('onward.go', { where })}</a>
        {going && (
          <button type="button" className="secondary" onClick={() => setStaying(true)}>
            {t('onward.stay')}
          </button>
        )}
      </p>
    </div>
  );
}

function hostOf(url: string): string | null {
  try {
    const { protocol, host } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? host : null;
  } catch {
    return null;
  }
}
