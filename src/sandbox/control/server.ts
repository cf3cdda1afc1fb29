import { createServer, type IncomingMessage } from 'node:http';
import { stringify } from 'yaml';
import { z } from 'zod';
import { collectionEnvironments, requestCollection } from '../../partner/openapi/collection.ts';
import { openApiDocument } from '../../partner/openapi/openapi.ts';
import { ApiError, invalidRequest, issueSentence, notFound, refuse } from '../context.ts';
import { BASE_PATH } from '../handle.ts';
import { pageFile } from '../hosted-pages.ts';
import { contextOf } from '../prepare.ts';
import { QUIRKS } from '../quirks.ts';
import { verifiedNumbers } from '../records/campaigns.ts';
import { type Company, companyById, listCompanies } from '../records/companies.ts';
import { pendingDeliveries } from '../records/deliveries.ts';
import { countLedger, type LedgerFilter, readLedger, record } from '../records/ledger.ts';
import { listen, readBody } from '../server.ts';
import type { SandboxState } from '../state.ts';
import { account, machinery, workspace } from './account.ts';
import type { Action } from './action.ts';
import { assessments, booking, campaigns, invitations } from './assessments-and-booking.ts';
import { browse } from './browse.ts';
import { offers, onboarding } from './onboarding.ts';
import { customFields, jobs, recruiting } from './recruiting.ts';

const number = z.coerce.number().int().optional();
const LedgerQuery = z.strictObject({
  kind: z.enum(['request', 'effect', 'event', 'delivery', 'fault', 'control']).optional(),
  name: z.string().optional(),
  companyId: number,
  status: number,
  subject: z.string().optional(),
  requestId: z.string().optional(),
  fault: z.string().optional(),
  origin: z.string().optional(),
  since: number,
  until: number,
  afterSeq: number,
  limit: number,
  last: number,
});

/** An instant, or a whole day in UTC: of two dates the last day counts as well. */
function date(ofDay: string) {
  return z
    .union([z.iso.datetime({ offset: true }), z.iso.date()])
    .transform((text) => Date.parse(text.length === 10 ? text + ofDay : text))
    .optional();
}

const DeliveryQuery = z.strictObject({
  event: z.string().optional(),
  status: number,
  companyId: number,
  from: date('T00:00:00.000Z'),
  to: date('T23:59:59.999Z'),
  last: number,
});

type Reply = (state: SandboxState, query: Record<string, string>) => unknown;

/** GET paths that answer JSON; whole documents and the page for people are in documents.ts. */
const READS: Record<string, Reply> = {
  '/healthz': (state) => ({
    ok: true,
    baseUrl: baseUrl(state),
    clock: state.clock.kind,
    now: state.clock.now(),
    pendingDeliveries: pendingDeliveries(state),
  }),
  '/actions': () => ({ actions: describeActions() }),
  '/companies': (state) => ({ companies: listCompanies(state) }),
  '/ledger': (state, query) => ({ entries: readLedger(state, ledgerFilter(query)) }),
  '/ledger/counts': (state, query) => countLedger(state, ledgerFilter(query)),
  '/deliveries': (state, query) => ({ deliveries: deliveries(state, query) }),
  '/faults': (state) => ({ faults: state.faults.list() }),
  '/quirks': (state) => ({ quirks: state.quirks.list(), known: QUIRKS }),
};

const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The control plane: JSON over loopback, on a port of its own. */
export async function startControlServer(
  state: SandboxState,
  port: number,
): Promise<{ port: number; close: () => Promise<void> }> {
  // Longer than clients keep an idle connection: a request that meets the server as it closes one would fail.
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    void reply(state, req).then(({ status, type, text, headers }) => {
      res.writeHead(status, { ...HEADERS, ...headers, 'content-type': `${type}; charset=utf-8` }).end(text);
    });
  });
  return listen(server, port);
}

async function reply(state: SandboxState, req: IncomingMessage): Promise<Document & { status: number }> {
  try {
    refuseForeignPages(req);
    const url = new URL(req.url ?? '/', 'http://control');
    const document = req.method === 'GET' ? documentAt(state, url.pathname) : undefined;
    if (document !== undefined) return { status: 200, ...document };
    return asJson(200, await answer(state, req, url));
  } catch (error) {
    if (error instanceof ApiError) return asJson(error.status, error);
    if (error instanceof z.ZodError || error instanceof SyntaxError) return asJson(400, invalidRequest(explain(error)));
    const message = error instanceof Error ? error.message : 'unknown';
    return asJson(500, { error: { code: 'SANDBOX_ERROR', message } });
  }
}

async function answer(state: SandboxState, req: IncomingMessage, url: URL): Promise<unknown> {
  const query = Object.fromEntries(url.searchParams);
  const read = req.method === 'GET' ? READS[url.pathname] : undefined;
  if (read !== undefined) return read(state, query);
  const browsed = req.method === 'GET' ? browse(state, url.pathname, query) : undefined;
  if (browsed !== undefined) return browsed;
  const name = /^\/actions\/(\w+)$/.exec(url.pathname)?.[1];
  if (req.method !== 'POST' || name === undefined) throw notFound('Path; GET /actions lists what there is, it');
  const text = await readBody(req);
  return act(state, name, text === undefined || text === '' ? {} : JSON.parse(text)) ?? null;
}

function asJson(status: number, body: unknown): Document & { status: number } {
  return { status, type: 'application/json', text: JSON.stringify(body) };
}

/**
 * A page of another origin, open in a browser on this machine, must neither act nor read (also by a name that leads
 * here).
 */
function refuseForeignPages({ headers: { host = '', origin } }: IncomingMessage): void {
  const here = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);
  if (!here || (origin !== undefined && origin !== `http://${host}`))
    throw refuse('PERMISSION_DENIED', 'The control plane answers only this machine and its own page');
}

/** Runs one action, checked; everything it does commits together. */
export function act(state: SandboxState, name: string, given: unknown): unknown {
  if (!Object.hasOwn(actions, name)) throw notFound(`Action ${name}`);
  const action = (actions as unknown as Record<string, Action>)[name] as Action;
  const { companyId, ...rest } = z.looseObject({ companyId: z.int().optional() }).parse(given);
  // A fault names the company it strikes; for every other action it is only the company that acts.
  const ownCompany = action.input instanceof z.ZodObject && 'companyId' in action.input.shape;
  const input = action.input.parse(ownCompany ? given : rest);
  const run = (): unknown => {
    const company = companyOf(state, companyId);
    record(state, { kind: 'control', name, companyId: company.id, origin: 'dashboard' });
    return action.run(contextOf(state, company), input);
  };
  return UNWRAPPED.has(name) ? run() : state.transaction(run);
}

function companyOf(state: SandboxState, id: number | undefined): Company {
  const company = id === undefined ? listCompanies(state)[0] : companyById(state, id);
  if (company === undefined) throw notFound('Company');
  return company;
}

function ledgerFilter(query: Record<string, string>): LedgerFilter {
  return LedgerQuery.parse(query);
}

/** Section 6: the delivery log by event type, status code and date range; each row is one attempt. */
function deliveries(state: SandboxState, query: Record<string, string>): unknown[] {
  const { event, status, companyId, from: since, to: until, last } = DeliveryQuery.parse(query);
  return readLedger(state, { kind: 'delivery', name: event, status, companyId, since, until, last }).map(
    ({ seq, at, name, subject, status: answered, detail }) => ({
      seq,
      at: new Date(at).toISOString(),
      event: name,
      deliveryId: Number(subject),
      status: answered ?? null,
      ...detail,
    }),
  );
}

function explain(error: Error): string {
  if (!(error instanceof z.ZodError)) return `The body is not valid JSON: ${error.message}`;
  return error.issues.map(issueSentence).join('; ');
}

interface Document {
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
function baseUrl(state: SandboxState): string {
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
function documentAt(state: SandboxState, path: string): Document | undefined {
  const file = pageFile(path);
  if (file !== undefined) return { ...file, headers: { 'content-security-policy': POLICY } };
  return DOCUMENTS[path]?.(state);
}

/** Every action of the control plane by name. A family adds a file and one line here. */
export const actions = {
  ...recruiting,
  ...jobs,
  ...customFields,
  ...onboarding,
  ...offers,
  ...workspace,
  ...booking,
  ...campaigns,
  ...assessments,
  ...invitations,
  ...account,
  ...machinery,
};
export type Actions = typeof actions;
export type ActionName = keyof Actions;

/** Acts outside the usual transaction: time moves, and each due task then commits by itself. */
const UNWRAPPED: ReadonlySet<string> = new Set<ActionName>(['advanceClock']);

/** The machine-readable list: name, effect, and fields as JSON Schema. */
function describeActions(): { name: string; method: 'POST'; path: string; summary: string; input: unknown }[] {
  return Object.entries(actions as unknown as Record<string, Action>).map(([name, action]) => ({
    name,
    method: 'POST',
    path: `/actions/${name}`,
    summary: action.summary,
    input: z.toJSONSchema(action.input, { io: 'input', unrepresentable: 'any' }),
  }));
}
