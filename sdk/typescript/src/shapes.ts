import type { Shape } from './shape.js';

export type { Shape } from './shape.js';

// The shapes of the responses, by what they describe.

export const quickRoom: Shape = { room_id: 'text', final_link: 'text' };
export const scheduledRoom: Shape = { room_id: 'text', start_time: 'time' };
export const projectStatus: Shape = { status: 'text' };
export const joinEvent: Shape = { joined: 'true' };
export const personalLink: Shape = { final_link: 'text' };
export const invitationLink: Shape = { invitation_link: 'text' };
export const simulatedMeeting: Shape = { room_id: 'text', people: 'number', seconds: 'number' };
export const anyObject: Shape = {};
export const roomStatus: Shape = { status: 'boolean', message: 'string' };

const room: Shape = { room_info: { room_id: 'text' }, participants_info: [{ identity: 'text' }] };
export const activeRoom: Shape = { result: room };
export const activeRooms: Shape = { response: { rooms: [room] } };
export const roomList: Shape = { rooms: [{ room_id: 'text', state: 'text' }] };
export const pastRooms: Shape = { rooms: { total_rooms: 'text', rooms_list: [{ room_id: 'text' }] } };
export const analytics: Shape = {
  room_id: 'text',
  participant_durations: 'object',
  participants: [{ identity: 'text' }],
};

const event: Shape = { id: 'text', type: 'text', sequence: 'number', data: 'object' };
export const roomEvents: Shape = { events: [event], next_after: 'number', has_more: 'boolean' };
export const webhookEvent: Shape = event;

export const keys: Shape = { data: { current: { id: 'text', api_key: 'text' } } };
export const usage: Shape = { data: { totals: { participant_minutes: 'number' } } };
export const limits: Shape = { data: { entitlements: [{ key: 'text', value: 'number' }] } };
export const requests: Shape = { data: { items: [{ request_id: 'text' }] } };
