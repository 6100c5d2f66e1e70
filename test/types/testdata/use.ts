// What integrators write around the types that they have generated from the
// descriptions, and what the types must not let pass.
import type * as v3 from './v3';
import type * as v4 from './v4';
import type * as v5 from './v5';

type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : never;
type ResponseBody<O, S extends number> = O extends {
  responses: { [status in S]: { content: { 'application/json': infer B } } };
}
  ? B
  : never;

export const quick: Body<v3.operations['createQuickAudioRoom']> = {
  project_id: '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10',
  name: 'Amina',
  max_participants: 10,
  empty_timeout: 300,
  metadata: { room_title: 'Standup', welcome_message: 'Good morning' },
};

export const scheduled: v4.components['schemas']['CreateScheduledRoomRequest'] = {
  project_id: '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10',
  start_at: '2027-01-31T09:30',
  max_participants: '10',
  empty_timeout: 300,
  metadata: {
    room_title: 'Weekly',
    welcome_message: '',
    room_features: { room_duration: 45, breakout_room_features: { allowed_number_rooms: 2 } },
  },
};

export function link(
  answer:
    | ResponseBody<v3.operations['createQuickAudioRoom'], 200>
    | ResponseBody<v4.operations['createScheduleVideoRoom'], 200>,
): string {
  return answer.final_link;
}

export const status: Body<v4.operations['updateProjectStatus']> = { status: 'inactive' };

export const sentence = (body: ResponseBody<v3.operations['createQuickAudioRoom'], 401>): string => body.error;

export function happened(page: ResponseBody<v4.operations['getRoomEvents'], 200>): string[] {
  return page.events.flatMap((event) => {
    switch (event.type) {
      case 'participant.left':
        return [`${event.data.participant.name} went: ${event.data.participant.reason}`];
      case 'room.ended':
        return [event.data.end_reason];
      default:
        return [];
    }
  });
}

export function overlapEnds(event: Body<v4.webhooks['key.rotated']['post']>): string {
  return event.data.overlap_ends_at;
}

export function explain(refusal: v5.components['schemas']['Error']): string {
  switch (refusal.error.code) {
    case 'SVC_UNAUTHORIZED':
      return 'look at the key, the secret and the clock';
    case 'SVC_GATEWAY_PROJECT_SUSPENDED':
      return 'ask the operator';
    default:
      return `${refusal.error.message} (${refusal.error.request_id})`;
  }
}

export function retiring(keys: ResponseBody<v5.operations['getKeys'], 200>): number {
  return keys.data.overlap?.requests_since_rotation ?? 0;
}

export function refused(page: ResponseBody<v5.operations['getRequests'], 200>): Map<string, string> {
  const causes = new Map<string, string>();
  for (const item of page.data.items) {
    if (item.auth_result !== 'ok') causes.set(item.request_id, item.hint ?? item.auth_result);
  }
  return causes;
}

// @ts-expect-error version 3 takes no number as a string
quick.max_participants = '10';
// @ts-expect-error suspension is the operator's
status.status = 'suspended';
// @ts-expect-error a room that opens has no reason for its end
export const opened = (event: Body<v4.webhooks['room.opened']['post']>) => event.data.end_reason;
// @ts-expect-error secrets are never returned
export const secret = (keys: ResponseBody<v5.operations['getKeys'], 200>) => keys.data.current.gateway_secret;
// @ts-expect-error there is no overlap outside of a rotation
export const overlap = (keys: ResponseBody<v5.operations['getKeys'], 200>) => keys.data.overlap.id;
