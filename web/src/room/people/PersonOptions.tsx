import { useId, useState, type ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { Person } from './person';
import { PersonViewOptions } from './PersonViewOptions';
import { canModerate, PersonModeration } from '../moderation/PersonModeration';
import type { ModerationTools } from '../moderation/moderation';

interface Props {
  /** For hosts and co-hosts. */
  moderation: ModerationTools | null;
  person: Person;
  away: boolean;
  /** The room is a video room. */
  video: boolean;
}

/** The options for one person: the visitor's own view of them, and moderation for hosts. */
export function PersonOptions({ moderation, person, away, video }: Props): ReactElement {
  const [open, setOpen] = useState(false);
  const id = useId();
  const canModerateThem = moderation !== null && canModerate(moderation, person);
  return (
    <>
      <button
        type="button"
        className="round"
        aria-label={t(canModerateThem ? 'tools.of' : 'person.options', { name: person.name })}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      {open && (
        <div className="tool-panel" id={id}>
          <PersonViewOptions person={person} video={video} />
          {canModerateThem && <PersonModeration moderation={moderation} person={person} away={away} />}
        </div>
      )}
    </>
  );
}
