import { type ReactElement, useEffect, useState } from 'react';
import { count, t } from '../messages';

const countdownSeconds = 10;

/** Redirects to the organizer's page after a countdown, which the visitor can stop. */
export function RedirectNotice({ url, paused }: { url: string; paused: boolean }): ReactElement | null {
  const [stopped, setStopped] = useState(false);
  const [left, setLeft] = useState(countdownSeconds);
  const host = hostOf(url);
  // Only http and https addresses.
  const active = host !== null && !stopped && !paused;
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1_000);
    return () => clearInterval(timer);
  }, [active]);
  useEffect(() => {
    if (active && left === 0) location.assign(url);
  }, [active, left, url]);

  if (host === null) return null;
  return (
    <div className="redirect">
      {/* Announced once, not every second. */}
      {active && (
        <>
          <p aria-hidden="true">{count('redirect.countdown', left, { where: host })}</p>
          <p className="sr-only" role="status">
            {count('redirect.countdown', countdownSeconds, { where: host })}
          </p>
        </>
      )}
      <p className="redirect-actions">
        <a href={url}>{t('redirect.go', { where: host })}</a>
        {active && (
          <button type="button" className="secondary" onClick={() => setStopped(true)}>
            {t('redirect.stay')}
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
