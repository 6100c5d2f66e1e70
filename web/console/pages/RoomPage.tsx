import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { useMore } from '../api/useMore';
import { formatCount, formatDuration, formatTime } from '../format';
import { href } from '../router';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Id } from '../ui/Copy';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { MoreButton } from '../ui/MoreButton';
import { PageHead } from '../ui/PageHead';
import { ProjectLink } from '../ui/ProjectLink';
import { ErrorBox } from '../ui/states';
import { useNow } from '../ui/useNow';
import { Facts, Status, Time } from '../ui/values';
import { attendanceOf } from './attendance';
import { deliveryState } from './deliveries';
import { describeEvent, endReasons } from './events';
import { RoomState, roomTitle } from './Rooms';
import { parseTime, readTime, zoned } from './times';

/** One room: its facts, who was in it, and what happened. */
export function RoomPage({ id, project }: { id: string; project: string | undefined }): ReactElement {
  const room = useGet('/rooms/{room_id}', { path: { room_id: id } });
  const above = <Link to={href('rooms', null, { project })}>Rooms</Link>;
  if (!room.data) {
    return (
      <>
        <PageHead title="Room" above={above} />
        {room.error ? <ErrorBox error={room.error} retry={room.reload} /> : <Loading />}
      </>
    );
  }
  const one = room.data;
  const began = one.started_at ?? one.opened_at;
  return (
    <>
      <PageHead title={roomTitle(one)} above={above} actions={<EndRoom room={one} onDone={room.reload} />}>
        <RoomState state={one.state} />
      </PageHead>
      <section className="box" aria-label="Facts">
        <Facts
          rows={[
            ['Room ID', <Id key="id" id={one.room_id} what="room ID" full />],
            ['Client room ID', <Id key="client" id={one.client_room_id} what="client room ID" full />],
            ['Project', <ProjectLink key="project" id={one.project_id} />],
            ['People now', `${one.participants} of ${one.max_participants}, ${one.room_type} room`],
            ['Created', <Time key="created" at={one.created_at} />],
            one.start_at !== undefined && ['Scheduled start', <Time key="start" at={one.start_at} />],
            ['First join', <Time key="started" at={one.started_at} />],
            ['End', <Time key="ended" at={one.ended_at} />],
            one.ended_at !== undefined && began !== undefined && ['Duration', formatDuration(Date.parse(one.ended_at) - Date.parse(began))],
            one.end_reason !== '' && ['Why it ended', endReasons[one.end_reason]],
          ]}
        />
      </section>
      <People room={one} />
      <Timeline roomId={id} project={project} />
    </>
  );
}

function EndRoom({ room, onDone }: { room: Schemas['Room']; onDone: () => void }): ReactElement | null {
  const may = useMay();
  if (!may('POST /rooms/{room_id}/end') || !['scheduled', 'open', 'active'].includes(room.state)) return null;
  const title = room.state === 'scheduled' ? 'Cancel the room' : 'End the room';
  return (
    <ActionButton
      title={title}
      className="secondary danger-text"
      final
      onDone={onDone}
      act={async () => {
        const { participants_sent_out = 0 } = await call('post', '/rooms/{room_id}/end', { path: { room_id: room.room_id } });
        return `The room is over. ${formatCount(participants_sent_out, 'person was', 'people were')} disconnected.`;
      }}
    >
      <p>
        This ends <strong>{roomTitle(room)}</strong>
        {room.participants > 0
          ? ` for ${formatCount(room.participants, 'person', 'people')}. They see that the meeting is over and cannot rejoin.`
          : ', which is empty. The room can then no longer be joined.'}
      </p>
    </ActionButton>
  );
}

/** Bars for the time that each person was in the room. */
function People({ room }: { room: Schemas['Room'] }): ReactElement {
  const [at, setAt] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const valid = at !== '' && !Number.isNaN(parseTime(at));
  const list = useMore('/rooms/{room_id}/people', {
    path: { room_id: room.room_id },
    query: { limit: 100, ...(valid && { at: zoned(at) }) },
  });
  const { first } = list;
  const connections = [first.data, ...list.rest].flatMap((page) => page?.people ?? []);
  return (
    <section aria-labelledby="people">
      <div className="box-head">
        <h2 id="people">
          People{' '}
          {first.data && (
            <span className="quiet">
              {new Set(connections.map(({ identity }) => identity)).size}
              {(list.loadMore || list.loadingMore) && '+'}
            </span>
          )}
        </h2>
        <form
          className="who-at"
          onSubmit={(event) => {
            event.preventDefault();
            const text = String(new FormData(event.currentTarget).get('at') ?? '').trim();
            const found = text === '' ? null : readTime(text);
            setProblem(found);
            if (!found) setAt(text);
          }}
        >
          <label htmlFor="at">Who was here at</label>
          <input id="at" name="at" placeholder="2026-11-24 10:05" autoComplete="off" aria-invalid={problem !== null} />
          <button type="submit" className="secondary">
            Show
          </button>
        </form>
      </div>
      {problem && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
      {first.error && <ErrorBox error={first.error} retry={first.reload} />}
      {!first.data && !first.error && <Loading />}
      {first.data && connections.length === 0 && (
        <p className="box quiet">
          {at
            ? `Nobody was in the room at ${at}.`
            : 'Nobody has joined yet. Each person gets a line with the time that they were in the room.'}
        </p>
      )}
      {connections.length > 0 && <Bars room={room} connections={connections} onChanged={first.reload} />}
      {list.error && <ErrorBox error={list.error} retry={list.retry} />}
      <MoreButton list={list}>Show more connections</MoreButton>
    </section>
  );
}

interface BarsProps {
  room: Schemas['Room'];
  connections: Schemas['RoomPerson'][];
  onChanged: () => void;
}

function Bars({ room, connections, onChanged }: BarsProps): ReactElement {
  const may = useMay();
  const now = useNow();
  const { fromMs, toMs, people } = attendanceOf(connections, now);
  return (
    <div className="box attendance">
      <div className="attendance-scale quiet small" aria-hidden="true">
        <span>{formatTime(fromMs, now)}</span>
        <span>{formatDuration(toMs - fromMs)}</span>
        <span>{people.some(({ here }) => here) ? 'now' : formatTime(toMs, now)}</span>
      </div>
      <ul>
        {people.map(({ identity, name, role, userId, seatId, hidden, here, totalMs, joinedMs, leftMs, bars }) => (
          <li className="attendee" key={identity}>
            <div className="attendee-name">
              <strong>{name || 'Name deleted'}</strong>
              <span className="quiet small">{[role, hidden && 'hidden', userId].filter(Boolean).join(' · ')}</span>
            </div>
            <div className="bars" aria-hidden="true">
              {bars.map(({ from, to, connection }) => (
                <span
                  key={connection.joined_at}
                  className="bar"
                  data-here={connection.left_at === null}
                  title={connectionTitle(connection)}
                  style={{ '--from': from, '--to': to }}
                />
              ))}
            </div>
            <div className="attendee-time small">
              {here ? <Status tone="good">Here</Status> : <span>{formatDuration(totalMs)}</span>}
              <span className="quiet">
                {formatTime(joinedMs, now)} to {leftMs === null ? 'now' : formatTime(leftMs, now)}
                {bars.length > 1 && `, ${bars.length} connections`}
                {mediaOf(bars.at(-1)?.connection)}
                {qualityOf(bars.map(({ connection }) => connection))}
              </span>
              {here && may('POST /rooms/{room_id}/remove-person') && (
                <ActionButton
                  title="Remove from the room"
                  label="Remove"
                  className="plain danger-text"
                  final
                  onDone={onChanged}
                  act={async () => {
                    await call('post', '/rooms/{room_id}/remove-person', { path: { room_id: room.room_id }, body: { seat_id: seatId } });
                    return `${name || 'The person'} was removed.`;
                  }}
                >
                  <p>
                    <strong>{name || 'This person'}</strong> is disconnected from <strong>{roomTitle(room)}</strong> now, and cannot join it
                    again until a host readmits them.
                  </p>
                </ActionButton>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How the media of a connection reached the server, if that is known. */
const mediaOf = (connection: Schemas['TimelineConnection'] | undefined): string =>
  connection?.connection_type ? `, media over ${connection.connection_type.toUpperCase()}` : '';

/** The quality of a person's connections, if it was checked. */
function qualityOf(connections: Schemas['TimelineConnection'][]): string {
  const poorMs = connections.reduce((sum, { poor_seconds }) => sum + poor_seconds * 1000, 0);
  const quality = connections.at(-1)?.connection_quality ?? '';
  if (poorMs > 0) return `, poor connection for ${formatDuration(poorMs)}`;
  return quality && `, ${quality} connection`;
}

const connectionTitle = (connection: Schemas['RoomPerson']): string => {
  const { joined_at, left_at, reason, node } = connection;
  const ended = reason && `, ${reason.replaceAll('_', ' ')}`;
  return [
    `${formatTime(Date.parse(joined_at))} to ${left_at ? formatTime(Date.parse(left_at)) : 'now'}`,
    ended,
    mediaOf(connection),
    qualityOf([connection]),
    `, node ${node}`,
  ].join('');
};

/** The events of a room and the actions of hosts, the earliest first, with the webhook deliveries of each. */
function Timeline({ roomId, project }: { roomId: string; project: string | undefined }): ReactElement {
  const list = useMore('/rooms/{room_id}/timeline', { path: { room_id: roomId }, query: { limit: 100 } });
  const { first } = list;
  const events = [first.data, ...list.rest].flatMap((page) => page?.events ?? []);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      {first.error && <ErrorBox error={first.error} retry={first.reload} />}
      {!first.data && !first.error && <Loading />}
      {first.data && events.length === 0 && <p className="box quiet">Nothing has happened in this room yet.</p>}
      {events.length > 0 && (
        <ol className="box timeline">
          {events.map((event) => (
            <li key={event.event_id || `action ${event.action?.number}`}>
              <span className="timeline-time small quiet">
                <Time at={event.at} />
              </span>
              <div className="timeline-event">
                <Status tone={describeEvent(event).tone}>{describeEvent(event).text}</Status>
                <span className="small quiet">
                  <code>{event.kind}</code> {event.sequence > 0 && `no. ${event.sequence}`}
                  {event.connection && `${mediaOf(event.connection)}${qualityOf([event.connection])}`}
                </span>
                {event.deliveries.map((delivery) => (
                  <span className="small timeline-delivery" key={delivery.delivery_id}>
                    <Link to={href('webhooks', delivery.delivery_id, { project })}>Webhook</Link>{' '}
                    <Status tone={deliveryState(delivery).tone}>{deliveryState(delivery).text}</Status>
                  </span>
                ))}
              </div>
            </li>
          ))}
        </ol>
      )}
      {list.error && <ErrorBox error={list.error} retry={list.retry} />}
      <MoreButton list={list}>Show later events</MoreButton>
    </section>
  );
}
