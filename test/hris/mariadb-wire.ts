import type { WireProtocol } from './tcp-proxy.ts';

const OK = 0x00;
const EOF = 0xfe;
const REFUSED = 0xff;

/** MariaDB's answers: a packet of OK or of an error, or a result whose second EOF packet is its end. */
export const mariadbWire: WireProtocol = {
  isOver(answer) {
    const packets = packetsOf(Buffer.from(answer, 'latin1'));
    const first = packets[0]?.[0];
    if (first === OK || packets.some((packet) => packet[0] === REFUSED)) return true;
    return packets.filter((packet) => packet[0] === EOF && packet.length < 9).length >= 2;
  },
  verdict(answer) {
    const [first] = packetsOf(Buffer.from(answer, 'latin1'));
    if (first?.[0] === OK) return `OK, ${first[1]} rows`;
    return first?.[0] === REFUSED ? `error ${first.readUInt16LE(1)}` : 'rows';
  },
};

/** Each packet has its length in three bytes and its number in one before it. */
function packetsOf(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUIntLE(at, 3);
    if (end > bytes.length) break;
    packets.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return packets;
}
