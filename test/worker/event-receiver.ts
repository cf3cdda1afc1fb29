import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { eventBody } from '../../src/worker/outgoing.ts';

export const EVENT_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

export interface Heard {
  id: string;
  type: string;
  jobCandidateId: string;
}

/** How the receiver answers the next calls; the last goes on. */
type Answer = 200 | 400 | 410 | 503 | 'hang' | 'cut';

/** A receiver as a customer has it: checks each signature by the library of Standard Webhooks, and the body. */
export async function listenForEvents(answers: (heard: Heard) => Answer = () => 200) {
  const webhook = new Webhook(EVENT_SECRET);
  const calls: Heard[] = [];
  const taken: Heard[] = [];
  const make = (): Server =>
    createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const parsed = eventBody.parse(webhook.verify(text, request.headers as Record<string, string>));
      const { type, data } = parsed;
      const heard = {
        id: String(request.headers['webhook-id']),
        type,
        jobCandidateId: 'jobCandidateId' in data ? data.jobCandidateId : '',
      };
      calls.push(heard);
      const answer = answers(heard);
      if (answer === 'hang') return;
      if (answer === 'cut') return void request.socket.destroy();
      if (answer === 200) taken.push(heard);
      response.writeHead(answer).end();
    });
  let server = make().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${port}/events`,
    calls,
    taken,
    stop,
    async start() {
      server = make().listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
