import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { useProjectName } from '../api/projects';
import { useGet, useList } from '../api/useGet';
import { formatCount, formatNumber } from '../format';
import { href } from '../router';
import { useChosenProject, useListable } from '../state/chosenProject';
import { Id } from '../ui/Copy';
import { Filters, SelectFilter, TextFilter } from '../ui/Filters';
import { FirstCall } from '../ui/FirstCall';
import { Link } from '../ui/Link';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty } from '../ui/states';
import { type Column, Table } from '../ui/Table';
import { Status, Time, type Tone } from '../ui/values';
import { TimeFilter } from './PeriodFilter';
import { zoned } from './times';

type Room = Schemas['Room'];

const states: Record<Schemas['RoomState'], { text: string; tone: Tone }> = {
  active: { text: 'Live', tone: 'good' },
  open: { text: 'Open', tone: 'busy' },
  scheduled: { text: 'Scheduled', tone: 'idle' },
  ended: { text: 'Ended', tone: 'idle' },
  cancelled: { text: 'Canceled', tone: 'idle' },
  expired: { text: 'Expired', tone: 'idle' },
};

/** The state of a room. It is live while somebody is in it. */
export function RoomState({ state }: { state: Schemas['RoomState'] }): ReactElement {
  return <Status tone={states[state].tone}>{states[state].text}</Status>;
}

export const roomTitle = ({ title, room_type }: Pick<Room, 'title' | 'room_type'>): string => title || `Untitled ${room_type} room`;

function useColumns(project: string | undefined): (Column<Room> | false)[] {
  const nameOf = useProjectName();
  return [
    { head: 'State', cell: ({ state }) => <RoomState state={state} /> },
    {
      head: 'Room',
      wide: true,
      cell: (room) => (
        <Link className="row-link" to={href('rooms', room.room_id, { project })}>
          {roomTitle(room)}
        </Link>
      ),
    },
    !project && { head: 'Project', cell: ({ project_id }) => nameOf(project_id) },
    {
      head: 'People',
      end: true,
      cell: ({ participants, max_participants }) => `${formatNumber(participants)} of ${formatNumber(max_participants)}`,
    },
    { head: 'Type', cell: ({ room_type }) => (room_type === 'video' ? 'Video' : 'Audio') },
    { head: 'Room ID', cell: ({ room_id }) => <Id id={room_id} what="room ID" /> },
    { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ];
}

/** All rooms: those that are live, and a search. */
export function Rooms({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const { title, person, room_id, client_room_id, state, from, to, cursor } = query;
  const project = useChosenProject(query.project);
  const listable = useListable(project);
  const searched = ['title', 'person', 'room_id', 'client_room_id', 'state', 'from', 'to'].filter((name) => query[name]);
  const rooms = useList(
    '/rooms',
    listable
      ? {
          query: {
            ...(project && { project_id: project }),
            ...(title && { title }),
            ...(person && { person }),
            ...(room_id && { room_id }),
            ...(client_room_id && { client_room_id }),
            ...(state && { state: state as Schemas['RoomState'] }),
            ...(from && { from: zoned(from) }),
            ...(to && { to: zoned(to) }),
            ...(cursor && { cursor }),
          },
        }
      : null,
  );
  const columns = useColumns(project);
  return (
    <>
      <PageHead title="Rooms">Every meeting: who was in it, what happened, and which webhooks were sent.</PageHead>
      {searched.length === 0 && !cursor && listable && <LiveRooms project={project} columns={columns} />}
      <section aria-labelledby="all-rooms">
        <h2 id="all-rooms">{searched.length > 0 ? 'Found rooms' : 'All rooms'}</h2>
        <Filters active={searched}>
          <TextFilter name="title" label="Title contains" value={title} wide />
          <TextFilter name="person" label="Person (name or user ID)" value={person} wide />
          <SelectFilter
            name="state"
            label="State"
            value={state}
            options={[
              ['', 'Any'],
              ['active', 'Live'],
              ['open', 'Open'],
              ['scheduled', 'Scheduled'],
              ['ended', 'Ended'],
              ['cancelled', 'Canceled'],
              ['expired', 'Expired'],
            ]}
          />
          <TimeFilter name="from" label="Ran after" value={from} />
          <TimeFilter name="to" label="Ran before" value={to} />
          <TextFilter name="room_id" label="Room ID" value={room_id} />
          <TextFilter name="client_room_id" label="Client room ID" value={client_room_id} />
        </Filters>
        <List
          label="Rooms"
          resource={rooms}
          rowsOf={(data) => data.rooms}
          cursorOf={(data) => data.next_cursor}
          cursor={cursor}
          keyOf={({ room_id }) => room_id}
          columns={columns}
          empty={
            searched.length > 0 ? (
              <Empty title="No room matches">
                <p>Choose other filters. Rooms are deleted some days after their end; the setting --retention-rooms says when.</p>
              </Empty>
            ) : (
              <Empty title="No rooms yet">
                <FirstCall />
              </Empty>
            )
          }
        />
      </section>
    </>
  );
}

/** The rooms with people in them. Their place stays while there are none. */
function LiveRooms({ project, columns }: { project: string | undefined; columns: (Column<Room> | false)[] }): ReactElement | null {
  const live = useGet('/rooms', { query: { ...(project && { project_id: project }), state: 'active', limit: 20 } });
  if (!live.data) return null;
  const { rooms, next_cursor } = live.data;
  return (
    <section aria-labelledby="live-rooms">
      <h2 id="live-rooms">
        Live now <span className="quiet">{next_cursor ? `more than ${rooms.length}` : formatCount(rooms.length, 'room')}</span>
      </h2>
      {rooms.length === 0 ? (
        <p className="quiet">Nobody is in a room. Rooms appear here as soon as the first person joins.</p>
      ) : (
        <Table label="Live rooms" columns={columns} rows={rooms} keyOf={({ room_id }) => room_id} />
      )}
      {next_cursor && <Link to={href('rooms', null, { project, state: 'active' })}>All live rooms</Link>}
    </section>
  );
}
