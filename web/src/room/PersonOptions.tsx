import { useId, useState, type ReactElement } from 'react';
import { t } from '../messages';
import { Icon } from '../ui/Icon';
import type { Person } from './person';
import { PersonView } from './stage/PersonView';
import { mayManage, PersonTools } from './tools/PersonTools';
import type { Tools } from './tools/tools';

interface Props {
  /** For those who run the room. */
  tools: Tools | null;
  person: Person;
  away: boolean;
  /** A room with pictures. */
  video: boolean;
}

/** What there is to do about somebody: for oneself, and for those who run the room also with them. */
export function PersonOptions({ tools, person, away, video }: Props): ReactElement {
  const [open, setOpen] = useState(false);
  const id = useId();
  const managed = tools !== null && mayManage(tools, person);
  return (
    <>
      <button
        type="button"
        className="round"
        aria-label={t(managed ? 'tools.of' : 'person.options', { name: person.name })}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
      </button>
      {open && (
        <div className="tool-panel" id={id}>
          <PersonView person={person} video={video} />
          {managed && <PersonTools tools={tools} person={person} away={away} />}
        </div>
      )}
    </>
  );
}
