import { stringify } from 'yaml';
import { collectionEnvironments, requestCollection } from '../../partner/openapi/collection.ts';
import { openApiDocument } from '../../partner/openapi/openapi.ts';
import { pageFile } from '../page-files.ts';
import { contextOf } from '../prepare.ts';
import { verifiedNumbers } from '../records/campaigns.ts';
import { listCompanies } from '../records/companies.ts';
import { BASE_PATH } from '../router.ts';
import type { SandboxState } from '../state.ts';

export interface Document {
  type: string;
  text: string;
  headers?: Record<string, string>;
}

/** Section 9.4, as whole documents. */
const DOCUMENTS: Record<string, (state: SandboxState) => Document> = {
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

/** Only the page's own files run and are shown, should any text ever be taken for HTML. */
const POLICY = [
  "default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** The whole document at a path, or undefined. */
export function documentAt(state: SandboxState, path: string): Document | undefined {
  const file = pageFile(path);
  if (file !== undefined) return { ...file, headers: { 'content-security-policy': POLICY } };
  return DOCUMENTS[path]?.(state);
}
