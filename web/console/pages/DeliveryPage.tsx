import type { ReactElement } from 'react';
import { call, type Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { formatDuration } from '../format';
import { href } from '../router';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { CodeBlock, Copy, Id } from '../ui/Copy';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { ProjectLink } from '../ui/ProjectLink';
import { ErrorBox, sentence } from '../ui/states';
import { Facts, Status, Time, toneOfStatus } from '../ui/values';
import { curlOf, deliveryState, prettyJSON } from './deliveries';
import { PauseOrResume, TargetState } from './Webhooks';

/** One delivery with its body, its attempts and the responses. */
export function DeliveryPage({ id, project }: { id: string; project: string | undefined }): ReactElement {
  const webhook = useGet('/webhooks/{delivery_id}', { path: { delivery_id: id } });
  const targets = useGet('/webhook-targets', webhook.data && { query: { project_id: webhook.data.project_id, limit: 100 } });
  const above = <Link to={href('webhooks', null, { project })}>Webhooks</Link>;
  if (!webhook.data) {
    return (
      <>
        <PageHead title="Delivery" above={above} />
        {webhook.error ? <ErrorBox error={webhook.error} retry={webhook.reload} /> : <Loading />}
      </>
    );
  }
  const one = webhook.data;
  const state = deliveryState(one);
  const target = targets.data?.targets.find(({ url }) => url === one.url);
  const reload = (): void => {
    webhook.reload();
    targets.reload();
  };
  const attempts = [...(one.attempts ?? [])].reverse();
  return (
    <>
      <PageHead
        title={one.type}
        above={above}
        actions={(targets.data || targets.error) && <Actions webhook={one} target={target} onDone={reload} />}
      >
        <Status tone={state.tone}>{state.text}</Status>
      </PageHead>
      <section className="box" aria-label="Facts">
        <Facts
          rows={[
            [
              'Target',
              <span key="url" className="url">
                {one.url}
              </span>,
            ],
            target !== undefined && [
              'State of the target',
              <span key="target" className="two-lines">
                <TargetState target={target} /> {target.notice && <span className="small quiet">{sentence(target.notice)}</span>}
              </span>,
            ],
            ['Delivery ID', <Id key="id" id={one.delivery_id} what="delivery ID" full />],
            ['Event ID (webhook-id)', <Id key="event" id={one.event_id} what="event ID" full />],
            ['Project', <ProjectLink key="project" id={one.project_id} />],
            one.room_id !== '' && [
              'Room',
              <Link key="room" to={href('rooms', one.room_id, { project })}>
                Open the room
              </Link>,
            ],
            one.sequence > 0 && ['Number in its room', `${one.sequence}`],
            ['Created', <Time key="created" at={one.created_at} />],
            one.done_at !== undefined && ['Done', <Time key="done" at={one.done_at} />],
            one.next_attempt_at !== undefined && ['Next attempt', <Time key="next" at={one.next_attempt_at} />],
            one.replay && ['Replay', 'Yes, it was sent before'],
          ]}
        />
      </section>
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {attempts.length === 0 && (
          <p className="box quiet">It was not tried yet. Deliveries of one room to one target are sent in their order.</p>
        )}
        {attempts.map((attempt) => (
          <Attempt key={attempt.n} attempt={attempt} />
        ))}
      </section>
      <section aria-labelledby="body">
        <div className="box-head">
          <h2 id="body">Body</h2>
          {one.body && <Copy text={curlOf(one)} what="curl command" label="Copy as curl" />}
        </div>
        {one.body ? (
          <CodeBlock text={prettyJSON(one.body)} what="body" />
        ) : (
          <p className="box quiet">The body was deleted after its retention period.</p>
        )}
        {one.body && (
          <p className="small quiet">
            The curl command has no signature, because the console does not know the project secret. Use it to see how your endpoint
            responds.
          </p>
        )}
      </section>
    </>
  );
}

interface ActionsProps {
  webhook: Schemas['Webhook'];
  target: Schemas['WebhookTarget'] | undefined;
  onDone: () => void;
}

function Actions({ webhook, target, onDone }: ActionsProps): ReactElement {
  const may = useMay();
  const { delivery_id, project_id, event_id, url, state, type } = webhook;
  return (
    <>
      <PauseOrResume projectId={project_id} url={url} target={target} onDone={onDone} />
      {state === 'pending' && !target?.paused && may('POST /webhook-retries') && (
        <ActionButton
          title="Retry now"
          onDone={onDone}
          act={async () => {
            await call('post', '/webhook-retries', { body: { delivery_id, project_id } });
            return 'The delivery is sent now.';
          }}
        >
          <p>
            <strong>{type}</strong> is sent to <span className="url">{url}</span> now. Deliveries before it in the same room are sent first.
          </p>
        </ActionButton>
      )}
      {state !== 'pending' && may('POST /webhook-replays') && (
        <ActionButton
          title="Replay the event"
          onDone={onDone}
          act={async () => {
            await call('post', '/webhook-replays', { body: { project_id, event_id, url } });
            return 'The event is sent again. The new delivery appears in the list.';
          }}
        >
          <p>
            <strong>{type}</strong> is sent to <span className="url">{url}</span> again, with the same webhook-id and the header{' '}
            <code>webhook-replay</code>.
          </p>
        </ActionButton>
      )}
    </>
  );
}

function Attempt({ attempt: { n, at, duration_ms, status, error, answer } }: { attempt: Schemas['WebhookAttempt'] }): ReactElement {
  return (
    <div className="box">
      <div className="box-head">
        <h3>
          <Status tone={toneOfStatus(status)}>{status === 0 ? 'No response' : `Status ${status}`}</Status>
        </h3>
        <span className="quiet small">
          Attempt {n}, <Time at={at} />, {formatDuration(duration_ms)}
        </span>
      </div>
      {error && <p>{error}</p>}
      {answer && (
        <>
          <p className="small quiet">Response, at most its first kilobyte:</p>
          <CodeBlock text={prettyJSON(answer)} what="response" />
        </>
      )}
    </div>
  );
}
