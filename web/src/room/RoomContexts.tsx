import type { ReactElement, ReactNode } from 'react';
import {
  type MeetingMedia,
  MeetingMediaContext,
  type MeetingPeople,
  MeetingPeopleContext,
  type MeetingView,
  MeetingViewContext,
  type Membership,
  MembershipContext,
} from './meeting';

interface Props {
  membership: Membership;
  media: MeetingMedia;
  people: MeetingPeople;
  view: MeetingView;
  children: ReactNode;
}

/** Gives the components of the room the four parts of the meeting. */
export function RoomContexts({ membership, media, people, view, children }: Props): ReactElement {
  return (
    <MembershipContext value={membership}>
      <MeetingMediaContext value={media}>
        <MeetingPeopleContext value={people}>
          <MeetingViewContext value={view}>{children}</MeetingViewContext>
        </MeetingPeopleContext>
      </MeetingMediaContext>
    </MembershipContext>
  );
}
