import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { Copy } from '../ui/Copy';
import { Filters, SelectFilter, TextFilter } from '../ui/Filters';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty } from '../ui/states';

type Setting = Schemas['Setting'];

const sources: Record<Setting['source'], string> = {
  flag: 'Flag',
  environment: 'Environment',
  file: 'File',
  default: 'Default',
};

/** Every setting of the node that serves this page, and where its value comes from. */
export function Settings({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const settings = useGet('/settings', {}, false);
  const { q = '', source } = query;
  const matches = ({ name, help = '', source: from }: Setting): boolean =>
    `${name} ${help}`.toLowerCase().includes(q.toLowerCase().replaceAll('-', '_').replace(/^_+/, '')) &&
    (!source || (source === 'set' ? from !== 'default' : from === source));
  return (
    <>
      <PageHead title="Settings">
        The settings of the node that serves this page, and where each value comes from. To change one, edit the configuration of the server
        and restart it.
      </PageHead>
      <Filters active={['q', 'source'].filter((name) => query[name])}>
        <TextFilter name="q" label="Name or meaning" value={q} wide />
        <SelectFilter
          name="source"
          label="Comes from"
          value={source}
          options={[
            ['', 'Anywhere'],
            ['set', 'Changed from the default'],
            ['flag', 'Flag'],
            ['environment', 'Environment'],
            ['file', 'File'],
            ['default', 'Default'],
          ]}
        />
      </Filters>
      <List
        label="Settings"
        resource={settings}
        rowsOf={(data) => data.settings.filter(matches)}
        keyOf={({ name }) => name}
        columns={[
          {
            head: 'Setting',
            cell: ({ name, flag, environment }) => (
              <span className="id">
                <code>{name}</code>
                <Copy text={flag || environment} what={flag ? 'flag' : 'environment variable'} />
              </span>
            ),
          },
          { head: 'Value', cell: (setting) => <Value setting={setting} /> },
          {
            head: 'Comes from',
            cell: ({ source: from }) => (from === 'default' ? <span className="quiet">Default</span> : <strong>{sources[from]}</strong>),
          },
          { head: 'Meaning', wide: true, cell: ({ help }) => <span className="small quiet">{help}</span> },
        ]}
        empty={
          <Empty title="No setting matches">
            <p>Search for another word, or clear the filters.</p>
          </Empty>
        }
      />
    </>
  );
}

function Value({ setting: { value, secret } }: { setting: Setting }): ReactElement {
  if (secret) return <span className="quiet">Secret, {value}</span>;
  return value === '' ? <span className="quiet">empty</span> : <code className="url">{value}</code>;
}
