import type { ReactElement, ReactNode } from 'react';
import { useCaller } from '../state/context';
import { CodeBlock } from './Copy';

/** The next step where nothing was called yet. An operator has a key in the data directory, an integrator has their own. */
export function FirstCall({ children }: { children?: ReactNode }): ReactElement {
  const { role } = useCaller();
  if (role === 'integrator') {
    return (
      <p>
        {children} Let your backend create its first room. <a href="/docs">The documentation</a> has examples in several languages.
      </p>
    );
  }
  return (
    <>
      <p>
        {children} On the server, this command signs with the key of the first project and creates a room. Open its link in two browsers:
      </p>
      <CodeBlock
        text={`parley request POST /api/v4/rooms/create_quick_audio_room --body '{"name":"Amina","max_participants":10,"empty_timeout":300,"metadata":{"room_title":"Standup","welcome_message":""}}'`}
        what="command"
      />
    </>
  );
}
