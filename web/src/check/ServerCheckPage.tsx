import { type ReactElement, useRef, useState } from 'react';
import { t } from '../messages';
import type { RoomModule } from '../room';
import { Notice } from '../ui/Notice';
import { RetryButton } from '../ui/RetryButton';
import { type PathName, type ServerCheck, serverCheck } from './serverCheck';

/** The names of the paths, which are the same in every language. */
const pathNames: Record<PathName, string> = { udp: 'UDP', ice_tcp: 'ICE/TCP', turn_tcp: 'TURN/TCP', turn_tls: 'TURN/TLS' };

interface Props {
  /** The code in the link, which starts one check. */
  code: string;
  room: RoomModule;
}

/** The page of a link with which an operator checks how media reaches the server, for example from a phone. */
export function ServerCheckPage({ code, room }: Props): ReactElement {
  const [running, setRunning] = useState(false);
  const [result, setResult] = useState<ServerCheck | null>(code ? null : { is: 'used' });
  const check = useRef(serverCheck(code, room));
  const start = (): void => {
    setRunning(true);
    void check.current().then((found) => {
      setResult(found);
      setRunning(false);
    });
  };
  const button = (label: string): ReactElement => <RetryButton busy={running} label={label} onPress={start} />;
  return (
    <Notice
      title={t('serverCheck.title')}
      actions={!result ? button(t('serverCheck.start')) : result.is === 'unreachable' ? button(t('check.again')) : null}
    >
      <div role="status">
        <Progress running={running} result={result} />
      </div>
    </Notice>
  );
}

function Progress({ running, result }: { running: boolean; result: ServerCheck | null }): ReactElement {
  if (running) return <p>{t('check.route.trying')}</p>;
  switch (result?.is) {
    case undefined:
      return <p>{t('serverCheck.intro')}</p>;
    case 'used':
      return <p>{t('serverCheck.used')}</p>;
    case 'unreachable':
      return <p>{t('unreachable.title')}</p>;
    case 'done':
      return (
        <>
          <ul>
            {(Object.keys(pathNames) as PathName[]).map((name) => {
              const path = result.paths[name];
              return (
                path?.offered && <li key={name}>{t(path.works ? 'serverCheck.works' : 'serverCheck.fails', { path: pathNames[name] })}</li>
              );
            })}
          </ul>
          <p>{t('serverCheck.sent')}</p>
        </>
      );
  }
}
