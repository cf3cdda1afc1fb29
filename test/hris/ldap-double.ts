import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { BerReader, BerWriter } from 'ldapts';
import { onTestFinished } from 'vitest';

/** Operations by their tags (RFC 4511, section 4.2 and after). */
const OPERATIONS = { 0x60: 'bind', 0x63: 'search', 0x66: 'modify', 0x68: 'add' } as const;

interface Asked {
  operation: (typeof OPERATIONS)[keyof typeof OPERATIONS] | undefined;
  /** Of a login. */
  password: string | undefined;
}

/** A directory without entries that answers each request with a result code and words. */
export async function startLdapDouble(codeOf: (asked: Asked) => number, words = ''): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (bytes) => {
      const reader = new BerReader(bytes);
      reader.readSequence();
      const number = reader.readInt() ?? 0;
      const tag = reader.readSequence() ?? 0;
      const operation = OPERATIONS[tag as keyof typeof OPERATIONS];
      if (operation === undefined) return;
      if (operation === 'bind') for (const read of [() => reader.readInt(), () => reader.readString()]) read();
      const password = operation === 'bind' ? (reader.readString(0x80) ?? undefined) : undefined;
      socket.write(answerOf(number, operation === 'search' ? 0x65 : tag + 1, codeOf({ operation, password }), words));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answerOf(number: number, tag: number, code: number, words: string): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(number);
  writer.startSequence(tag);
  writer.writeEnumeration(code);
  writer.writeString('');
  writer.writeString(words);
  writer.endSequence();
  writer.endSequence();
  return writer.buffer;
}
