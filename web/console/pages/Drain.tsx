import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useMay } from '../state/context';
import { announce } from '../ui/announce';
import { ActionButton } from '../ui/Confirm';
import { FormDialog } from '../ui/FormDialog';

/** The times for all meetings of a node, in seconds. */
const times: readonly (readonly [seconds: number, text: string])[] = [
  [0, 'At once'],
  [60, 'Within 1 minute'],
  [600, 'Within 10 minutes'],
  [3600, 'Within 1 hour'],
];
const defaultTime = 60;

interface Props {
  node: Schemas['Node'];
  /** Whether another node can take the meetings. Otherwise the server refuses a drain. */
  hasOther: boolean;
  onDone: () => void;
}

/**
 * Drains a node, or cancels the drain. It is absent for other roles, for a node that is lost or was asked to stop, and if no other node
 * hosts meetings. Its dialog stays when the page shows the drain before the response arrives.
 */
export function DrainButton({ node: { node, state, drain_by }, hasOther, onDone }: Props): ReactElement | null {
  const may = useMay();
  const [open, setOpen] = useState(false);
  if (!may('POST /nodes/{node}/drain')) return null;
  const path = { node };
  return (
    <>
      {state === 'draining' && drain_by && (
        <ActionButton
          title="Cancel the drain"
          ariaLabel={`Cancel the drain of ${node}`}
          dismiss="Keep draining"
          onDone={onDone}
          act={async () => {
            await call('post', '/nodes/{node}/cancel-drain', { path });
            return 'The node hosts new meetings again.';
          }}
        >
          <p>The node hosts new meetings again. Meetings that it gave to other nodes stay there.</p>
        </ActionButton>
      )}
      {state === 'live' && hasOther && (
        <button type="button" className="secondary" aria-label={`Drain ${node}`} onClick={() => setOpen(true)}>
          Drain
        </button>
      )}
      {open && (
        <FormDialog
          title="Drain the node"
          submit="Drain the node"
          onClose={() => setOpen(false)}
          act={async (form) => {
            await call('post', '/nodes/{node}/drain', { path, body: { within: Number(form.get('within')) } });
            setOpen(false);
            announce('The node is draining.');
            onDone();
          }}
        >
          <p>
            The node hosts no new meetings, and gives its own to other nodes, one after another. The people in a meeting connect again
            within a second. People of other nodes whose media this node relays (TURN) connect again, too, after ten seconds at the
            earliest. Stop the node when its sessions and its relayed people are 0.
          </p>
          <label className="field">
            <span>Time for all meetings</span>
            <select name="within" defaultValue={defaultTime}>
              {times.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        </FormDialog>
      )}
    </>
  );
}
