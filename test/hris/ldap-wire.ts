import type { WireProtocol } from './tcp-proxy.ts';

/** Answers to a modify, an add and a move (RFC 4511, section 4.2 and after). */
const ANSWERS = [0x67, 0x69, 0x6d];

/** LDAP's answers to writes: a sequence of the message's number and the result. */
export const ldapWire: WireProtocol = {
  isOver: (answer) => resultOf(answer) !== undefined,
  verdict: (answer) => `result code ${resultOf(answer) ?? 'none'}`,
};

function resultOf(answer: string): number | undefined {
  const bytes = Buffer.from(answer, 'latin1');
  for (let at = 0; at < bytes.length; ) {
    const message = partAt(bytes, at);
    if (message === undefined) return undefined;
    const number = partAt(bytes, message.from);
    const result = number && partAt(bytes, number.to);
    if (number && result && ANSWERS.includes(bytes[number.to] ?? 0)) return bytes[result.from + 2];
    at = message.to;
  }
  return undefined;
}

/** The content of what begins here; undefined if it has not arrived whole. */
function partAt(bytes: Buffer, at: number): { from: number; to: number } | undefined {
  const short = bytes[at + 1];
  if (short === undefined) return undefined;
  const more = short < 0x80 ? 0 : short - 0x80;
  const from = at + 2 + more;
  if (from > bytes.length) return undefined;
  const to = from + (more === 0 ? short : bytes.readUIntBE(at + 2, more));
  return to > bytes.length ? undefined : { from, to };
}
