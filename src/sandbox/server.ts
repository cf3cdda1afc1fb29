import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  AccountInactiveError,
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Context,
  InvalidKeyError,
  invalidRequest,
  iso,
  serverError,
  tooManyRequests,
} from './context.ts';
import { type Fault, surprised } from './faults.ts';
import { type FileText, readFileUrl } from './file-urls.ts';
import { type Call, execute, noteFault, noteUnanswered, prepare, refuseCall } from './handle.ts';
import { openHostedPage } from './hosted-pages.ts';
import { contextOf } from './prepare.ts';
import type { RateLimit } from './rate-limit.ts';
import { applicationFile, consentFile, resumeFile } from './records/applications.ts';
import { findAssessment } from './records/assessments.ts';
import { candidateIds, deleteCandidates } from './records/candidates.ts';
import { companyById } from './records/companies.ts';
import { findSubmission, inviteOfSubmission, resultOf } from './records/invites.ts';
import { record } from './records/ledger.ts';
import { certificateText, documentText, offerText } from './records/onboarding-documents.ts';
import { createJob } from './records/pipelines.ts';
import { candidateResume } from './records/resumes.ts';
import { openSharePage } from './share-page.ts';
import type { SandboxState } from './state.ts';

/** Larger than the largest body the spec allows: 5,000 invites, or URLs of 4 KB with signatures in them. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** One answered or unanswered request, for a log line; no body, no personal data. */
export interface RequestLog {
  method: string;
  path: string;
  operation: string;
  /** Absent when no answer was sent. */
  status?: number;
  companyId?: number | undefined;
  requestId: string;
  fault?: string | undefined;
  ms: number;
}

interface ApiServerOptions {
  port: number;
  limit?: RateLimit | undefined;
  onRequest?: ((entry: RequestLog) => void) | undefined;
}

/** The API over node:http, bare on purpose: a page of 100 must cost little more than its bytes. */
export async function startApiServer(
  state: SandboxState,
  options: ApiServerOptions,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 },
    (req, res) => {
      answerRequest(state, options, req, res).catch((error: unknown) => {
        // A client that goes away while sending is no defect.
        if (req.complete) state.onDefect?.('server', error);
        res.destroy();
      });
    },
  );
  server.on('clientError', refuseNonsense);
  return listen(server, options.port);
}

/** Invalid HTTP, headers that are too long and slow requests are refused with the body of section 7 as well. */
function refuseNonsense(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(invalidRequest('The request is not valid HTTP, too large, or did not arrive in time'));
  const head = `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8`;
  socket.end(`${head}\r\ncontent-length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`);
}

/** Listens on loopback; close ends open connections too. */
export async function listen(server: Server, port: number): Promise<{ port: number; close: () => Promise<void> }> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerRequest(
  state: SandboxState,
  options: ApiServerOptions,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const file = openFile(state, req.method, req.url ?? '/') ?? openSharePage(state, req.method, req.url ?? '/');
  if (file !== undefined) {
    res.writeHead(file.status, withLength(file));
    res.end(file.body);
    return;
  }
  const body = await readBody(req);
  if (body === undefined) {
    refuseTooLarge(req, res);
    return;
  }
  const page = openHostedPage(state, req.method, req.url ?? '/', body);
  if (page !== undefined) {
    res.writeHead(page.status, withLength(page));
    res.end(page.body);
    return;
  }
  const request = { method: req.method ?? 'GET', url: req.url ?? '/', headers: req.headers, body };
  const outcome = await play(state, request, options.limit);
  send(res, outcome);
  const log = logOf(outcome, started);
  const answered = outcome.kind === 'reset' ? '' : outcome.response.body.toString();
  state.exchanges.add({ ...log, at: state.clock.now(), url: request.url, sent: body, answered });
  options.onRequest?.(log);
}

/** The whole body as text; undefined when it is too large. */
export async function readBody(req: IncomingMessage): Promise<string | undefined> {
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return undefined;
  if (req.method === 'GET') return '';
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not close the connection: the refusal still goes out on it.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** How long to read and discard the rest of a too large body: closing at once would reset the answer, too. */
const LINGER_MS = 5000;

function refuseTooLarge(req: IncomingMessage, res: ServerResponse): void {
  const body = JSON.stringify(invalidRequest('The body is too large'));
  res.writeHead(400, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) });
  res.end(body);
  req.resume();
  const timer = setTimeout(() => req.destroy(), LINGER_MS).unref();
  req.once('close', () => clearTimeout(timer));
}

function send(res: ServerResponse, outcome: Outcome): void {
  if (outcome.kind === 'reset') {
    // A reset, not an orderly end: the client must not be able to read a truncated success.
    res.socket?.resetAndDestroy();
    return;
  }
  if (outcome.kind === 'half') sendHalf(res, outcome.response);
  else {
    res.writeHead(outcome.response.status, withLength(outcome.response));
    res.end(outcome.response.body);
  }
}

function sendHalf(res: ServerResponse, response: ApiResponse): void {
  res.writeHead(response.status, withLength(response));
  res.write(response.body.slice(0, Math.floor(response.body.length / 2)), () => {
    res.socket?.destroy();
  });
}

function withLength(response: ApiResponse): Record<string, string | number> {
  return { ...response.headers, 'content-length': Buffer.byteLength(response.body) };
}

function logOf(outcome: Outcome, started: number): RequestLog {
  const { call } = outcome;
  return {
    method: call.request.method,
    path: call.request.url.split('?')[0] ?? '',
    operation: call.operation,
    companyId: call.company?.id,
    requestId: call.requestId,
    fault: outcome.fault,
    ms: Math.round(performance.now() - started),
    ...(outcome.kind === 'reset' ? {} : { status: outcome.response.status }),
  };
}

/** The result sent over the socket: an answer, its first half, or nothing. */
type Outcome = { call: Call; fault?: string | undefined } & (
  | { kind: 'answer'; response: ApiResponse }
  | { kind: 'half'; response: ApiResponse }
  | { kind: 'reset' }
);

/** The result of the call under a fault. */
type Played = Outcome extends infer One ? (One extends unknown ? Omit<One, 'call' | 'fault'> : never) : never;

const HTML = '<!doctype html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>';

const FAULTS: Record<string, (state: SandboxState, call: Call, fault: Fault) => Played | Promise<Played>> = {
  throttle: (state, call, { kind, retryAfter }) =>
    answer(refuseCall(state, call, tooManyRequests(retryAfter === undefined ? undefined : String(retryAfter)), kind)),
  'server-error': (state, call, { kind }) => answer(refuseCall(state, call, serverError(), kind)),
  'server-error-after': (state, call, { kind }) => {
    const { headers } = execute(state, call, kind);
    return answer({ status: 500, headers, body: JSON.stringify(serverError()) });
  },
  'revoked-key': (state, call, { kind }) => answer(refuseCall(state, call, new InvalidKeyError(), kind)),
  'inactive-account': (state, call, { kind }) => answer(refuseCall(state, call, new AccountInactiveError(), kind)),
  'reset-before': (state, call, { kind }) => {
    noteUnanswered(state, call, kind);
    return { kind: 'reset' };
  },
  'answer-lost': (state, call, { kind }) => {
    execute(state, call, kind);
    return { kind: 'reset' };
  },
  'executed-late': async (state, call, { kind, ms = 10_000 }) => {
    await wait(state, ms);
    // Checked again: key, account and company are those of the moment of execution.
    return answer(execute(state, prepare(state, call.request), kind));
  },
  'truncated-body': (state, call, { kind }) => ({ kind: 'half', response: execute(state, call, kind) }),
  'schema-surprise': (state, call, { kind, surprise = 'unknown-key', items = 1 }) => {
    const response = execute(state, call, kind);
    return answer({ ...response, body: surprised(response.body, call.route?.endpoint.list?.itemsAt, surprise, items) });
  },
  'page-drift': (state, call, { kind }) => {
    drift(state, call);
    return answer(execute(state, call, kind));
  },
  'html-body': (state, call, { kind }) => {
    const { status, headers } = execute(state, call, kind);
    return answer({ status, headers: { ...headers, 'content-type': 'text/html' }, body: HTML });
  },
};

/** Handles one call with the faults and limits in force. */
export async function play(state: SandboxState, request: ApiRequest, limit: RateLimit | undefined): Promise<Outcome> {
  const call = prepare(state, request);
  const { company } = call;
  if (company === undefined || call.refusal !== undefined)
    return { call, kind: 'answer', response: execute(state, call) };
  const entered = limit?.enter(company.id, state.clock.now());
  if (entered?.ok === false) {
    const seconds = String(Math.max(1, Math.ceil(entered.retryAfterMs / 1000)));
    return { call, kind: 'answer', response: refuseCall(state, call, tooManyRequests(seconds)) };
  }
  try {
    const { latencyMs, fault } = state.faults.forRequest(call.operation, company.id, request);
    if (latencyMs > 0) await wait(state, latencyMs);
    if (latencyMs > 0 && fault !== undefined) noteFault(state, call, 'latency');
    const played =
      fault === undefined
        ? answer(execute(state, call, latencyMs > 0 ? 'latency' : undefined))
        : await FAULTS[fault.kind]?.(state, call, fault);
    return { call, fault: fault?.kind, ...(played ?? { kind: 'reset' }) };
  } finally {
    limit?.leave(company.id);
  }
}

function answer(response: ApiResponse): Played {
  return { kind: 'answer', response };
}

async function wait(state: SandboxState, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    state.clock.at(state.clock.now() + ms, () => {
      if (!state.closed) resolve();
    });
  });
}

/**
 * Somebody works in the dashboard while a list is being paged, so that the pages after this one shift by one record.
 */
function drift(state: SandboxState, call: Call): void {
  const { company } = call;
  if (company === undefined) return;
  state.transaction(() => {
    const ctx = contextOf(state, company);
    const [first] = candidateIds(ctx);
    // Jobs are listed newest first, so a new one shifts; the other lists begin with the oldest.
    if (call.operation === 'jobs.list') createJob(ctx, { title: 'Created while paging', status: 'ACTIVE' });
    else if (first !== undefined) deleteCandidates(ctx, [first]);
  });
}

/**
 * Draws each kind of document from its record, by the kind given to `fileUrl`; undefined where the record is gone. A
 * family adds a line.
 */
const KINDS: Record<string, (ctx: Context, subject: string) => FileText | undefined> = {
  'interview-report': interviewReport,
  'onboarding-document': documentText,
  offer: offerText,
  'offer-certificate': certificateText,
  resume: resumeFile,
  'candidate-resume': candidateResume,
  consent: consentFile,
  'application-file': applicationFile,
};

/**
 * The answer to a URL of a document: the PDF, 403 once expired (G24, assumed), 404 without its record. Undefined for
 * other paths.
 */
export function openFile(state: SandboxState, method: string | undefined, url: string): ApiResponse | undefined {
  if (method !== 'GET' || !url.startsWith('/files/')) return undefined;
  return state.transaction(() => {
    const file = readFileUrl(state, url);
    const response = file === 'expired' ? text(403, 'This link has expired.') : drawn(state, file);
    const subject = file === undefined || file === 'expired' ? undefined : `${file.kind}/${file.subject}`;
    const companyId = file === undefined || file === 'expired' ? undefined : file.companyId;
    record(state, { kind: 'request', name: 'file', status: response.status, subject, companyId, origin: 'api' });
    return response;
  });
}

function drawn(
  state: SandboxState,
  file: { kind: string; companyId: number; subject: string } | undefined,
): ApiResponse {
  const company = file === undefined ? undefined : companyById(state, file.companyId);
  if (file === undefined || company === undefined) return text(404, 'There is no such file.');
  const ctx: Context = { state, company, now: state.clock.now(), origin: 'api' };
  const content = found(() => KINDS[file.kind]?.(ctx, file.subject));
  if (content === undefined) return text(404, 'There is no such file.');
  return {
    status: 200,
    headers: { 'content-type': 'application/pdf', 'content-disposition': `inline; filename="${file.kind}.pdf"` },
    body: pdfOf(content.title, content.lines),
  };
}

/** A record that is gone is no defect. */
function found<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function text(status: number, body: string): ApiResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}

const LINE_HEIGHT = 18;
/** Lines on an A4 page below its title. */
const LINES = 38;

/**
 * A one-page PDF 1.4 of a title and lines of text, in Helvetica, which every reader has. Plain ASCII throughout, so it
 * travels as text like every other answer.
 */
function pdfOf(title: string, lines: readonly string[]): string {
  const text = [
    `BT /F1 18 Tf 60 770 Td (${escaped(title)}) Tj /F1 11 Tf 0 -14 Td`,
    ...lines.slice(0, LINES).map((line) => `0 -${String(LINE_HEIGHT)} Td (${escaped(line)}) Tj`),
    'ET',
  ].join('\n');
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${String(text.length)} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped(title)}) >>`,
  ]);
}

/** Objects numbered from 1, the table of where each begins, and where the table begins. */
function assemble(objects: readonly string[]): string {
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  const size = String(objects.length + 1);
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${String(file.length)}\n%%EOF\n`;
  return `${file}xref\n0 ${size}\n0000000000 65535 f \n${table}${trailer}`;
}

/** Latin-1 unchanged, other letters without their accents, the rest as question marks. */
function escaped(text: string): string {
  return Array.from(text.normalize('NFC'), (letter) => {
    const [plain = '?'] = letter.normalize('NFD');
    return isLatin(letter) ? octal(letter) : isLatin(plain) ? octal(plain) : '?';
  }).join('');
}

function isLatin(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0;
  return (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
}

function octal(letter: string): string {
  return /[^ -~]|[()\\]/.test(letter) ? `\\${(letter.codePointAt(0) ?? 0x3f).toString(8).padStart(3, '0')}` : letter;
}

/** The result PDF of a scored interview. */
function interviewReport(ctx: Context, submissionId: string): FileText {
  const submission = findSubmission(ctx, submissionId);
  const assessment = findAssessment(ctx, submission.assessmentId);
  const { firstName, lastName, email } = inviteOfSubmission(ctx, submission);
  const { score, bucket, cefrLevel } = resultOf(assessment, submission);
  return {
    title: `Interview report: ${assessment.fields.testName.slice(0, 80)}`,
    lines: [
      [firstName, lastName].filter((name) => name !== null).join(' ') || email,
      `Role: ${assessment.fields.hiringForRole.slice(0, 80)}`,
      `Ended: ${submission.endedAt === null ? '' : iso(submission.endedAt)}`,
      `Score: ${String(score)} of 100`,
      `Bucket: ${String(bucket)}`,
      ...(cefrLevel === null ? [] : [`CEFR level: ${cefrLevel}`]),
    ],
  };
}
