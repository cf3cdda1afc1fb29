import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import type { CallReport, PartnerClientOptions } from '../../../src/partner/client/types.ts';
import { serve } from '../../http/servers.ts';

export interface SeenRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export type Script = (request: SeenRequest) => {
  status?: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
};

export interface ScriptedPartner {
  partner: PartnerClient;
  seen: SeenRequest[];
  reports: CallReport[];
  baseUrl: string;
}

export const testKey = `sk_test_${'k'.repeat(22)}`;

/** The real client on a real socket, before a server that answers by a script. */
export async function scriptedPartner(
  script: Script,
  options: Partial<PartnerClientOptions> = {},
): Promise<ScriptedPartner> {
  const seen: SeenRequest[] = [];
  const reports: CallReport[] = [];
  const origin = await serve((request, response) => void answer(request, response, script, seen));
  const baseUrl = `${origin}/v1/partner`;
  const partner = createPartnerClient({
    baseUrl,
    apiKey: testKey,
    environment: 'sandbox',
    allowPrivate: true,
    onCall: (report) => reports.push(report),
    ...options,
  });
  onTestFinished(() => partner.close());
  return { partner, seen, reports, baseUrl };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  script: Script,
  seen: SeenRequest[],
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://partner');
  const sent = await text(request);
  const one: SeenRequest = {
    method: request.method ?? '',
    path: url.pathname.replace('/v1/partner', ''),
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: sent === '' ? undefined : JSON.parse(sent),
  };
  seen.push(one);
  const reply = script(one);
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  response.end(reply.text ?? JSON.stringify(reply.json));
}
