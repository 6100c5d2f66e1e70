import { useState } from 'react';
import type { Result } from '../../api/client';
import { t } from '../../messages';

/** Returns what went wrong and what to do next. */
export function actionErrorText(result: Result<unknown>): string | null {
  if (result.is === 'ok') return null;
  if (result.is === 'unreachable') return t('actionError.unreachable');
  switch (result.error.code) {
    case 'too_many_breakouts':
      return t('actionError.tooMany');
    case 'breakout_not_found':
      return t('actionError.closed');
    case 'seat_not_found':
      return t('actionError.gone');
    case 'microphone_locked':
      return t('moderation.micLocked');
    case 'too_many_invitations':
      return t('actionError.tooManyLinks');
    case 'not_host':
      return t('actionError.notHost');
    default:
      return t('actionError.refused');
  }
}

interface Action {
  busy: boolean;
  error: string | null;
  /** Calls the server, once at a time. Resolves to null when the action failed or another one is running. */
  run: <T>(call: () => Promise<Result<T>>) => Promise<{ value: T } | null>;
}

/** An action of the server behind a button. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  return {
    busy,
    error,
    async run(call) {
      if (busy) return null;
      setBusy(true);
      const result = await call();
      setBusy(false);
      setError(actionErrorText(result));
      return result.is === 'ok' ? { value: result.value } : null;
    },
  };
}
