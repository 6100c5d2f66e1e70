import { type FormEvent, type ReactElement, useState } from 'react';
import { ApiError, call, type Schemas } from '../api/client';
import { formatDuration } from '../format';
import { useChosenProject } from '../state/chosenProject';
import { useMay } from '../state/context';
import { PageHead } from '../ui/PageHead';
import { Empty, ErrorBox, sentence } from '../ui/states';
import { Table } from '../ui/Table';
import { Facts, Status } from '../ui/values';
import { causeText, slotText } from './causes';
import { readHeaders } from './headers';
import { signatureVersion, signatureVersions } from './signatureVersion';

/** Shows line by line what the server signs for a request, and which mistake explains a difference. */
export function Signature({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const may = useMay();
  const project = useChosenProject(query.project);
  const [check, setCheck] = useState<Schemas['SignatureCheck'] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? '');
    const [path = '', query = ''] = text('path')
      .trim()
      .split(/\?(.*)/s);
    setBusy(true);
    setError(null);
    try {
      setCheck(
        await call('post', '/projects/{project_id}/signature-checks', {
          path: { project_id: project ?? '' },
          body: {
            version: text('version') as Schemas['SignedRequest']['version'],
            method: text('method').trim().toUpperCase(),
            path,
            query,
            headers: readHeaders(text('headers')),
            // A form sends line feeds as CR LF; the text has them as they were typed.
            body: text('body').replaceAll('\r\n', '\n'),
          },
        }),
      );
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setCheck(null);
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <>
      <PageHead title="Signature tester">
        Paste a request that was rejected. You see what the server signs, line by line, and the mistake that explains a difference. The
        request is not executed.
      </PageHead>
      {!may('POST /projects/{project_id}/signature-checks') ? (
        <Empty title="Your role may not check signatures">
          <p>Ask an operator, or the integrator of the project. On their machine, parley verify does the same.</p>
        </Empty>
      ) : !project ? (
        <Empty title="Choose a project">
          <p>Choose the project that signs the request in the list of projects. Its keys are compared.</p>
        </Empty>
      ) : (
        <div className="columns">
          <form className="box" onSubmit={submit}>
            <label className="field">
              <span>How it is signed</span>
              <select name="version" defaultValue={signatureVersion(query)}>
                {signatureVersions.map(([version, text]) => (
                  <option key={version} value={version}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
            <div className="method-and-path">
              <label className="field">
                <span>Method</span>
                <input name="method" defaultValue={query.method ?? 'POST'} required autoComplete="off" spellCheck={false} />
              </label>
              <label className="field">
                <span>Path, with its query</span>
                <input
                  name="path"
                  defaultValue={query.path ?? '/api/v4/rooms/create_quick_video_room'}
                  required
                  autoComplete="off"
                  spellCheck={false}
                />
              </label>
            </div>
            <label className="field">
              <span>
                Headers <span className="hint">one a line, such as hash-signature: …</span>
              </span>
              <textarea name="headers" rows={5} spellCheck={false} autoComplete="off" className="code" />
            </label>
            <label className="field">
              <span>
                Body <span className="hint">byte for byte, as it was sent</span>
              </span>
              <textarea name="body" rows={8} spellCheck={false} autoComplete="off" className="code" />
            </label>
            <button type="submit" className="primary" aria-disabled={busy}>
              Check the signature
            </button>
          </form>
          <div className="stack" aria-live="polite">
            {error && <ErrorBox error={error} />}
            {check && <Result check={check} />}
            {!check && !error && <p className="quiet">The result appears here. It never contains a secret or the correct signature.</p>}
          </div>
        </div>
      )}
    </>
  );
}

function Result({ check }: { check: Schemas['SignatureCheck'] }): ReactElement {
  const { accepted, matches, cause, hint, profile, signed_with, key_slot, clock_skew_seconds: skew, signed_text } = check;
  return (
    <>
      <section className={accepted ? 'box good' : 'box problem'} aria-labelledby="result">
        <h2 id="result">
          {accepted ? 'The request would be accepted' : `The request would be rejected: ${causeText(cause || 'unknown cause')}`}
        </h2>
        {hint && <p>{sentence(hint)}</p>}
        <Facts
          rows={[
            [
              'Signature',
              matches ? (
                <Status key="m" tone="good">
                  Matches
                </Status>
              ) : (
                <Status key="m" tone="bad">
                  Does not match
                </Status>
              ),
            ],
            ['Profile', profile],
            ['Signed with', signed_with],
            ['Key', slotText(key_slot)],
            skew !== undefined && [
              'Timestamp',
              skew === 0 ? 'Now' : `${formatDuration(Math.abs(skew) * 1000)} ${skew > 0 ? 'ahead of' : 'behind'} the server`,
            ],
          ]}
        />
      </section>
      <section aria-labelledby="text">
        <h2 id="text">The text that is signed</h2>
        <Table
          label="Lines of the signed text"
          rows={signed_text.map((part, n) => ({ ...part, n: n + 1 }))}
          keyOf={({ n }) => n}
          columns={[
            { head: 'Line', end: true, cell: ({ n }) => n },
            { head: 'Part', cell: ({ label }) => label },
            {
              head: 'Value',
              wide: true,
              cell: ({ value }) => (value === '' ? <span className="quiet">empty</span> : <code className="signed">{value}</code>),
            },
            { head: 'From', cell: ({ from }) => <span className="small quiet">{from}</span> },
          ]}
        />
        <p className="small quiet">The parts are joined with line feeds. There is none after the last one.</p>
      </section>
    </>
  );
}
