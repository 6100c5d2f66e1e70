import { type ReactElement, useId, useState } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { useMeetingMedia, useMembership } from '../meeting';
import { canModerate, PersonModeration } from '../moderation/PersonModeration';
import { PersonViewOptions } from './PersonViewOptions';
import type { Person } from './person';

interface Props {
  person: Person;
  away: boolean;
}

/** The options for one person: the visitor's own view of them, and moderation for hosts. */
export function PersonOptions({ person, away }: Props): ReactElement {
  const { role, isModerator } = useMembership();
  const { mediaState } = useMeetingMedia();
  const [open, setOpen] = useState(false);
  const id = useId();
  const canModerateThem = isModerator && canModerate(role, person);
  return (
    <>
      <button
        type="button"
        className="round"
        aria-label={t(canModerateThem ? 'moderation.manage' : 'person.options', { name: person.name })}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      {open && (
        <div className="tool-panel" id={id}>
          <PersonViewOptions person={person} video={mediaState.video} />
          {canModerateThem && <PersonModeration person={person} away={away} />}
        </div>
      )}
    </>
  );
}
