import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
  params?: unknown;
}

export interface LanguageClient {
  request(method: string, params: object): Promise<unknown>;
  notify(method: string, params: object): void;
  /** The next notification of this name that the test accepts. */
  told(method: string, accepts: (params: unknown) => boolean): Promise<unknown>;
  close(): Promise<void>;
}

/** The real yaml-language-server as an editor starts it, spoken to over its standard streams. */
export function startLanguageServer(): LanguageClient {
  const main = fileURLToPath(import.meta.resolve('yaml-language-server'));
  const bin = path.join(path.dirname(main), '../../bin/yaml-language-server');
  const server = spawn(process.execPath, [bin, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = new Map<number, (result: unknown) => void>();
  const listeners = new Set<(message: Message) => void>();
  let sent = 0;
  const send = (message: object): void => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  readMessages(server.stdout, (message) => {
    if (message.method !== undefined && message.id !== undefined) send({ id: message.id, result: null });
    else if (message.id !== undefined) answers.get(message.id)?.(message.result);
    else for (const listener of listeners) listener(message);
  });
  return {
    request(method, params) {
      sent += 1;
      const id = sent;
      const answered = new Promise<unknown>((resolve) => answers.set(id, resolve));
      send({ id, method, params });
      return answered;
    },
    notify: (method, params) => send({ method, params }),
    told: (method, accepts) =>
      new Promise((resolve) => {
        const listener = (message: Message): void => {
          if (message.method !== method || !accepts(message.params)) return;
          listeners.delete(listener);
          resolve(message.params);
        };
        listeners.add(listener);
      }),
    async close() {
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

/** Messages stand one after the other, each under its length in bytes. */
function readMessages(stream: NodeJS.ReadableStream, onMessage: (message: Message) => void): void {
  let rest = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = rest.indexOf('\r\n\r\n');
      const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, Math.max(0, head)).toString())?.[1]);
      if (head < 0 || rest.length < head + 4 + length) return;
      const body = rest.subarray(head + 4, head + 4 + length);
      rest = rest.subarray(head + 4 + length);
      onMessage(JSON.parse(body.toString()) as Message);
    }
  });
}
