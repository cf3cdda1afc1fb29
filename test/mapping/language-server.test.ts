import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LanguageClient, startLanguageServer } from './language-client.ts';

const SCHEMA = path.join(import.meta.dirname, '../../mappings/mapping.schema.json');
const URI = 'file:///tenants/acme-mapping.yaml';
/** As docs/mapping.md has its first line, with the path of the schema. */
const modeline = `# yaml-language-server: $schema=${pathToFileURL(SCHEMA).href}`;

let editor: LanguageClient;
let version = 0;

beforeAll(async () => {
  editor = startLanguageServer();
  const textDocument = {
    completion: { completionItem: { snippetSupport: false } },
    hover: { contentFormat: ['markdown'] },
  };
  await editor.request('initialize', { processId: process.pid, rootUri: null, capabilities: { textDocument } });
  editor.notify('initialized', {});
  editor.notify('textDocument/didOpen', { textDocument: { uri: URI, languageId: 'yaml', version, text: modeline } });
});

afterAll(() => editor.close());

/** The file as it is being typed; `|` is the cursor. */
function type(text: string): { textDocument: { uri: string }; position: { line: number; character: number } } {
  const before = `${modeline}\n${text.slice(0, text.indexOf('|'))}`.split('\n');
  version += 1;
  const changes = [{ text: `${modeline}\n${text.replace('|', '')}` }];
  editor.notify('textDocument/didChange', { textDocument: { uri: URI, version }, contentChanges: changes });
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  return { textDocument: { uri: URI }, position };
}

test.each([
  ['the keys of a rule', 'fields:\n  title:\n    |', ['from', 'template', 'transform', 'lookup', 'direction', 'owner']],
  ['directions', 'fields:\n  title:\n    direction: |', ['toHris', 'toPartner', 'both']],
  ['transforms', 'fields:\n  title:\n    from: job.title\n    transform:\n      - |', ['trim', 'date', 'country']],
  ['the keys of a file', '|', ['fields', 'extends']],
])('an editor proposes %s', async (_what, text, expected) => {
  const answer = (await editor.request('textDocument/completion', type(text))) as { items: { label: string }[] };
  expect(answer.items.map(({ label }) => label)).toEqual(expect.arrayContaining(expected));
});

test.each([
  ['fields:\n  title:\n    loo|kup: { a: b }', 'what the HR system calls it'],
  ['fields:\n  title:\n    when|: [{ path: job.city, present: true }]', 'applies only where all of these hold'],
])('an editor explains a key under the pointer: %j', async (text, expected) => {
  expect(JSON.stringify(await editor.request('textDocument/hover', type(text)))).toContain(expected);
});

test('an editor marks a key that no rule has', async () => {
  const marked = editor.told('textDocument/publishDiagnostics', (params) => JSON.stringify(params).includes('form'));
  type('fields:\n  title: { form: job.title }|');
  expect(JSON.stringify(await marked)).toContain('Property form is not allowed');
});
