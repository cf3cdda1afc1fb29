import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { collectionEnvironments, requestCollection } from '../../partner/openapi/collection.ts';
import { openApiDocument } from '../../partner/openapi/openapi.ts';
import { contextOf } from '../prepare.ts';
import { verifiedNumbers } from '../records/campaigns/sites.ts';
import { listCompanies } from '../records/workspace/companies.ts';
import { BASE_PATH } from '../router.ts';
import type { SandboxState } from '../state.ts';

export interface Document {
  type: string;
  text: string;
  headers?: Record<string, string>;
}

/** GET paths that are not answers of the control plane but whole documents: the page for people, and section 9.4. */
export const DOCUMENTS: Record<string, (state: SandboxState) => Document> = {
  '/': () => (page ??= readPage()),
  '/openapi.json': (state) => json(openApiDocument({ sandbox: baseUrl(state) })),
  '/openapi.yaml': (state) => ({
    type: 'application/yaml',
    text: stringify(openApiDocument({ sandbox: baseUrl(state) }), { aliasDuplicateObjects: false }),
  }),
  '/collection.json': () => json(requestCollection()),
  '/environment.json': (state) => json(environment(state)),
};

/** Base URL of the API that this control plane belongs to. */
export function baseUrl(state: SandboxState): string {
  return state.publicUrl + BASE_PATH;
}

/** The collection's environment with the key and a verified number of the first company in it, ready to run. */
function environment(state: SandboxState): unknown {
  const { sandbox } = collectionEnvironments({ sandbox: baseUrl(state) });
  const [company] = listCompanies(state);
  if (company === undefined) return sandbox;
  const [verifiedPhone] = verifiedNumbers(contextOf(state, company));
  const known = { apiKey: company.apiKey, verifiedPhone };
  const values = (sandbox['values'] as { key: string }[]).filter(({ key }) => key !== 'apiKey');
  const filled = Object.entries(known).filter(([, value]) => typeof value === 'string');
  return { ...sandbox, values: [...values, ...filled.map(([key, value]) => ({ key, value, enabled: true }))] };
}

function json(value: unknown): Document {
  return { type: 'application/json', text: JSON.stringify(value, null, 2) };
}

let page: Document | undefined;

/** Only the script and style that stand in the file run, should any text ever be taken for HTML. */
function readPage(): Document {
  const text = readFileSync(new URL('page.html', import.meta.url), 'utf8');
  const hashOf = (tag: string): string => {
    const inner = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(text)?.[1] ?? '';
    return `'sha256-${createHash('sha256').update(inner).digest('base64')}'`;
  };
  const policy = [
    "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    `script-src ${hashOf('script')}; style-src ${hashOf('style')}`,
  ].join('; ');
  return { type: 'text/html', text, headers: { 'content-security-policy': policy } };
}
