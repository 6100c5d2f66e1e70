import { checkObject, checkRoomId, invalid, pathSegment } from './arguments.js';
import { create, get, getData, getText, send, withFieldReport, withRequestId } from './calls.js';
import type { ClientOptions, CommonOptions } from './options.js';
import { optionsOfEnvironment, readOptions } from './options.js';
import { listPastRooms, listRequests, listRoomEvents, listRooms, pastRoomsPage } from './pages.js';
import { activeRoomsPath } from './response.js';
import * as shapes from './shapes.js';
import { Transport } from './transport.js';
import type { RoomEvent } from './types/events.js';
import type * as Gateway from './types/gateway.js';
import type * as Meetings from './types/meetings.js';
import type * as Rooms from './types/rooms.js';

type CallOptions = Rooms.CallOptions;

/**
 * How long a join event may be repeated, in milliseconds. The server treats the same event within a minute as the same
 * join; the other half of the minute is for the last attempt to arrive.
 */
const joinRetryWindow = 30_000;

const inspect = Symbol.for('nodejs.util.inspect.custom');

/**
 * A client of one server for one project. Create one and reuse it.
 *
 * Every method takes one object with the fields of the wire, if it takes any, and optionally a signal. It rejects with
 * a ParleyError, or with the reason of the signal. Iterators read pages on demand. Printing a client shows no secrets.
 */
export class ParleyClient {
  readonly #transport: Transport;
  readonly #base: string;
  /** The start of the paths that versions 3 and 4 both have. */
  readonly #api: string;

  /** Throws InvalidArgumentError for options that cannot be used. */
  constructor(options: ClientOptions) {
    const settings = readOptions(options);
    this.#transport = new Transport(settings);
    this.#base = settings.base;
    this.#api = `/api/v${settings.version}`;
  }

  /**
   * Returns a client with the settings of the environment variables PARLEY_URL, PARLEY_PROJECT_ID,
   * PARLEY_PROJECT_SECRET, PARLEY_API_KEY and PARLEY_GATEWAY_SECRET. Only PARLEY_URL must be set. Throws
   * InvalidArgumentError for settings and options that cannot be used.
   */
  static fromEnvironment(options: CommonOptions = {}): ParleyClient {
    return new ParleyClient(optionsOfEnvironment(options));
  }

  /** Creates an audio room that is open at once. */
  async createQuickAudioRoom(room: Rooms.QuickRoomRequest, options?: CallOptions): Promise<Rooms.QuickRoom> {
    return create(this.#transport, `${this.#api}/rooms/create_quick_audio_room`, room, shapes.quickRoom, options);
  }

  /** Creates a video room that is open at once. */
  async createQuickVideoRoom(room: Rooms.QuickRoomRequest, options?: CallOptions): Promise<Rooms.QuickRoom> {
    return create(this.#transport, `${this.#api}/rooms/create_quick_video_room`, room, shapes.quickRoom, options);
  }

  /** Creates an audio room that opens at its start time (version 4). */
  async createScheduledAudioRoom(
    room: Rooms.ScheduledRoomRequest,
    options?: CallOptions,
  ): Promise<Rooms.ScheduledRoom> {
    return create(this.#transport, '/api/v4/rooms/create_schedule_audio_room', room, shapes.scheduledRoom, options);
  }

  /** Creates a video room that opens at its start time (version 4). */
  async createScheduledVideoRoom(
    room: Rooms.ScheduledRoomRequest,
    options?: CallOptions,
  ): Promise<Rooms.ScheduledRoom> {
    return create(this.#transport, '/api/v4/rooms/create_schedule_video_room', room, shapes.scheduledRoom, options);
  }

  /** Creates an audio room that opens at its start time (version 3, which takes an instant in any time zone). */
  async createScheduledAudioRoomV3(
    room: Rooms.ScheduledRoomV3Request,
    options?: CallOptions,
  ): Promise<Rooms.ScheduledRoomV3> {
    return create(this.#transport, '/api/v3/rooms/create_schedule_audio_room', room, shapes.scheduledRoom, options);
  }

  /** Creates a video room that opens at its start time (version 3, which takes an instant in any time zone). */
  async createScheduledVideoRoomV3(
    room: Rooms.ScheduledRoomV3Request,
    options?: CallOptions,
  ): Promise<Rooms.ScheduledRoomV3> {
    return create(this.#transport, '/api/v3/rooms/create_schedule_video_room', room, shapes.scheduledRoom, options);
  }

  /**
   * Activates or deactivates the project. An inactive project accepts no new rooms and no new joins; running rooms
   * continue. ForbiddenError for a suspended project.
   */
  async updateProjectStatus(
    update: { status: Rooms.ProjectStatus },
    options?: CallOptions,
  ): Promise<Rooms.ProjectStatusUpdate> {
    const query = new URLSearchParams({ project_id: this.#transport.projectId });
    const target = `/api/v4/projects/update_project_status?${query}`;
    const sending = { method: 'PUT', signer: 'project', repeatable: true } as const;
    return withRequestId(await send(this.#transport, target, update, shapes.projectStatus, sending, options));
  }

  /**
   * Reports that a person joined in another system, which is recorded in the attendance of the room. It grants no
   * access and takes no seat. It needs the project secret. ConflictError for a room that has ended.
   */
  async sendJoinEvent(event: Rooms.JoinEvent, options?: CallOptions): Promise<Rooms.JoinEventReceived> {
    const room_id = checkRoomId(event);
    const body = { room_id, user_info: { name: event.name } };
    const target = `/api/v4/webhook/get_room_events/${pathSegment('room_id', room_id)}`;
    const sending = { signer: 'project_secret', repeatable: true, retryWindow: joinRetryWindow } as const;
    return withRequestId(await send(this.#transport, target, body, shapes.joinEvent, sending, options));
  }

  /**
   * Opens a scheduled room before its start, and returns a new link for its host. If the room is already open, it only
   * returns such a link.
   */
  async startScheduledRoom(room: Meetings.StartRoomRequest, options?: CallOptions): Promise<Meetings.StartedRoom> {
    return withRequestId(await this.#post('start_schedule_room', room, shapes.quickRoom, options));
  }

  /** Creates a link for one person. Only the first browser that joins with the link can use it. */
  async joinRoom(join: Meetings.JoinRoomRequest, options?: CallOptions): Promise<Meetings.PersonalLink> {
    return withRequestId(await this.#post('join_room', join, shapes.personalLink, options));
  }

  /** Creates a link to pass on. */
  async createInvitationLink(
    invitation: Meetings.InvitationRequest,
    options?: CallOptions,
  ): Promise<Meetings.InvitationLink> {
    return withRequestId(await this.#post('create_invitation_link', invitation, shapes.invitationLink, options));
  }

  /**
   * Starts a simulated meeting in an open room of a test project, and returns before its end. Events, webhooks,
   * attendance and usage are those of a meeting of people.
   */
  async simulateMeeting(
    simulation: Meetings.SimulationRequest,
    options?: CallOptions,
  ): Promise<Meetings.SimulatedMeeting> {
    return withRequestId(await this.#post('simulate_meeting', simulation, shapes.simulatedMeeting, options));
  }

  /**
   * Returns a link that is signed with the project secret. It sends no request, and the server checks the link when it
   * is used.
   */
  async signJoinLink(link: Meetings.JoinLinkRequest): Promise<string> {
    return this.#transport.joinLink(link);
  }

  /** Changes a room that is still scheduled. ConflictError for a room in another state. */
  async rescheduleRoom(change: Meetings.RescheduleRequest, options?: CallOptions): Promise<Meetings.RescheduledRoom> {
    return withFieldReport(await this.#post('reschedule_room', change, shapes.scheduledRoom, options));
  }

  /**
   * Ends a room for all participants. A room that is not open yet is canceled. ConflictError for a room that has ended.
   * The call is never repeated.
   */
  async endRoom(room: Meetings.RoomReference, options?: CallOptions): Promise<Meetings.EndedRoom> {
    const room_id = checkRoomId(room);
    return withRequestId(await this.#post('end_room', { room_id }, shapes.anyObject, options));
  }

  /** Reads whether a room can be joined now. */
  async roomStatus(room: Meetings.RoomReference, options?: CallOptions): Promise<Meetings.RoomStatus> {
    return withRequestId(await this.#get('rooms/room_status', room, shapes.roomStatus, options));
  }

  /** Reads a room with its participants. NotFoundError when the room is not open or active. */
  async activeRoom(
    room: Meetings.RoomReference,
    options?: CallOptions,
  ): Promise<Meetings.ActiveRoom & Rooms.WithRequestId> {
    const { body, response } = await this.#get<{ result: Meetings.ActiveRoom }>(
      'rooms/get_active_room_info',
      room,
      shapes.activeRoom,
      options,
    );
    return withRequestId({ body: body.result, response });
  }

  /**
   * Reads all rooms that are open or active, with their participants, the oldest first. The response may be as large as
   * 64 MiB.
   */
  async activeRooms(options?: CallOptions): Promise<Meetings.ActiveRoom[]> {
    const target = this.#api + activeRoomsPath;
    const { body } = await get<{ response: { rooms: Meetings.ActiveRoom[] } }>(
      this.#transport,
      target,
      shapes.activeRooms,
      options,
    );
    return body.response.rooms;
  }

  /** Iterates over the rooms of the project in every state or in one, the newest first. */
  rooms(
    selection: Meetings.RoomsRequest = {},
    options?: CallOptions,
  ): AsyncGenerator<Meetings.ListedRoom, void, undefined> {
    return listRooms(this.#transport, this.#api, selection, options);
  }

  /** Reads a page of the rooms that have ended, expired or been canceled. */
  async pastRooms(selection: Meetings.PastRoomsRequest = {}, options?: CallOptions): Promise<Meetings.PastRooms> {
    return withRequestId(await pastRoomsPage(this.#transport, this.#api, selection, options));
  }

  /**
   * Iterates over all rooms that have ended, expired or been canceled, after the first `from` of them. `limit` is the
   * size of a page. With the order DESC, which is the default, a room can appear twice if another room ends during the
   * iteration.
   */
  allPastRooms(
    selection: Meetings.PastRoomsRequest = {},
    options?: CallOptions,
  ): AsyncGenerator<Meetings.PastRoom, void, undefined> {
    return listPastRooms(this.#transport, this.#api, selection, options);
  }

  /** Reads the attendance of a room so far. */
  async analytics(room: Meetings.RoomReference, options?: CallOptions): Promise<Meetings.Analytics> {
    return withRequestId(await this.#get('analytics/get_analytics', room, shapes.analytics, options));
  }

  /** Reads the attendance of a room as CSV with a byte order mark, one line for each connection. */
  async exportAttendance(room: Meetings.RoomReference, options?: CallOptions): Promise<string> {
    const query = new URLSearchParams({ room_id: checkRoomId(room) });
    const target = `${this.#api}/analytics/export_attendance?${query}`;
    const call = { target, accept: 'text/csv', signer: 'gateway' } as const;
    return (await getText(this.#transport, call, options)).text();
  }

  /**
   * Iterates over the events of a room after a `sequence`, the oldest first, and ends after the last event so far. A
   * later call with the last `sequence` misses no events.
   */
  roomEvents(selection: Meetings.RoomEventsRequest, options?: CallOptions): AsyncGenerator<RoomEvent, void, undefined> {
    return listRoomEvents(this.#transport, selection, options);
  }

  /** Reads the API keys of the project. Secrets are never shown. */
  async keys(options?: CallOptions): Promise<Gateway.Keys> {
    return getData(this.#transport, '/api/v5/keys', shapes.keys, options);
  }

  /** Reads the usage of the organization, or of the test project, this month. */
  async usage(options?: CallOptions): Promise<Gateway.Usage> {
    return getData(this.#transport, '/api/v5/usage', shapes.usage, options);
  }

  /** Reads the entitlements of the organization. */
  async limits(options?: CallOptions): Promise<Gateway.Limits> {
    return getData(this.#transport, '/api/v5/limits', shapes.limits, options);
  }

  /** Iterates over the version 5 calls of the last seven days, the newest first. */
  requests(
    selection: Gateway.RequestsRequest = {},
    options?: CallOptions,
  ): AsyncGenerator<Gateway.RequestItem, void, undefined> {
    return listRequests(this.#transport, selection, options);
  }

  /** Reads the OpenAPI description of a version. It is public and needs no credentials. */
  async openapi(document: Gateway.OpenApiRequest, options?: CallOptions): Promise<string> {
    const { version } = checkObject(document);
    if (version !== 3 && version !== 4 && version !== 5) throw invalid('version must be 3, 4 or 5');
    const [file, accept] = version === 5 ? ['openapi.json', 'application/json'] : ['openapi.yaml', 'application/yaml'];
    const call = { target: `/api/v${version}/${file}`, accept, signer: 'none' } as const;
    const response = await getText(this.#transport, call, options);
    if (version === 5) response.json(); // rejects a text that is not JSON
    return response.text();
  }

  /** Returns the server and the project, without secrets. */
  toString(): string {
    return `ParleyClient of ${this.#base}, project "${this.#transport.projectId}"`;
  }

  /** Returns the server and the project, without secrets. */
  toJSON(): { base_url: string; project_id: string } {
    return { base_url: this.#base, project_id: this.#transport.projectId };
  }

  /** What console.log shows in Node, Deno and Bun. */
  [inspect](): string {
    return this.toString();
  }

  #post<Body>(route: string, values: object, shape: shapes.Shape, options: CallOptions | undefined) {
    checkRoomId(values as Meetings.RoomReference);
    return send<Body>(this.#transport, `${this.#api}/rooms/${route}`, values, shape, { signer: 'gateway' }, options);
  }

  #get<Body>(route: string, room: Meetings.RoomReference, shape: shapes.Shape, options: CallOptions | undefined) {
    const query = new URLSearchParams({ room_id: checkRoomId(room) });
    return get<Body>(this.#transport, `${this.#api}/${route}?${query}`, shape, options);
  }
}
