import { expect, test } from 'vitest';
import { History, type Joined, type Place, type Reader } from './history.ts';

const hris: Place = { side: 'hris', record: '1', at: 'mail' };
const partner: Place = { side: 'partner', record: '9', at: 'email' };
const isSame = (one: string | null, other: string | null): boolean => one?.toLowerCase() === other?.toLowerCase();
const TO_PARTNER: Joined = { here: partner, there: hris, owner: 'either', keeps: 'hris', isSame };

/** HR types an address and takes it back; then somebody types it in the platform, in the platform's spelling. */
function overwritten({ isUnderWay }: { isUnderWay: boolean }): string[] {
  const history = new History();
  const look = (reader: Reader): void => {
    for (const place of [partner, hris]) history.read(reader, place, history.textAt(place), { at: 0, isSure: true });
    history.compared(reader, TO_PARTNER, true);
  };
  for (const place of [partner, hris]) history.edited(place, 'ada.30@example.org');
  look({ shown: new Map(), isDisturbed: false });
  history.edited(hris, 'Ada.17@Example.org');
  look({ shown: new Map(), isDisturbed: true });
  history.edited(hris, 'ada.30@example.org');
  history.edited(partner, 'ada.17@example.org', { isUnderWay });
  const reader: Reader = { shown: new Map(), isDisturbed: false };
  look(reader);
  history.wrote(partner, 'ada.30@example.org', { reader, joined: [TO_PARTNER], holds: false, at: 0 });
  return history.violations;
}

test('a value typed in another spelling passes for a write of it that was begun, and for nothing else', () => {
  expect(overwritten({ isUnderWay: true })).toEqual([]);
  expect(overwritten({ isUnderWay: false })).toEqual([expect.stringContaining('is overwritten that nobody contested')]);
});

/** The HR system keeps four characters; somebody edits the partner's value after a process read both sides. */
function overCut({ isRenewed }: { isRenewed: boolean }): string[] {
  const history = new History();
  const isCut = (one: string | null, other: string | null): boolean => one?.slice(0, 4) === other?.slice(0, 4);
  const joined = { ...TO_PARTNER, isSame: isCut };
  const look = (): Reader => {
    const reader: Reader = { shown: new Map(), isDisturbed: false };
    for (const place of [partner, hris]) history.read(reader, place, history.textAt(place), { at: 0, isSure: true });
    history.compared(reader, joined, true);
    return reader;
  };
  history.edited(partner, 'note 93');
  const toHris: Joined = { ...joined, here: hris, there: partner };
  history.wrote(hris, 'note', { reader: look(), joined: [toHris], holds: true, at: 0 });
  if (isRenewed) history.changed(hris.at);
  look();
  history.edited(partner, 'other 128');
  history.wrote(partner, 'note', { reader: look(), joined: [joined], holds: false, at: 0 });
  return history.violations;
}

test('a value that its side made of another is known to be the same by a write alone', () => {
  expect(overCut({ isRenewed: true })).toEqual([]);
  expect(overCut({ isRenewed: false })).toEqual([expect.stringContaining('is overwritten that nobody contested')]);
});

/** A write to the HR system is in doubt; while its record is read again, somebody edits it there. */
function overInDoubt({ isSure }: { isSure: boolean }): string[] {
  const history = new History();
  const toHris: Joined = { here: hris, there: partner, owner: 'either', keeps: 'partner', isSame };
  const look = (isDisturbed: boolean, at: number, isSureAtHris = true): Reader => {
    const reader: Reader = { shown: new Map(), isDisturbed };
    history.read(reader, partner, history.textAt(partner), { at, isSure: true });
    history.read(reader, hris, history.textAt(hris), { at, isSure: isSureAtHris });
    history.compared(reader, toHris, true);
    return reader;
  };
  for (const place of [partner, hris]) history.edited(place, 'ada.30@example.org');
  look(false, 0);
  history.edited(partner, 'ada.17@example.org');
  history.wrote(hris, 'ada.17@example.org', { reader: look(true, 0), joined: [toHris], holds: true, at: 0 });
  const later = 100_000;
  const reader = look(false, later, isSure);
  history.edited(hris, 'ada.102@example.org');
  history.read(reader, hris, history.textAt(hris), { at: later, isSure: false });
  history.wrote(hris, 'ada.17@example.org', { reader, joined: [toHris], holds: true, at: later });
  return history.violations;
}

test('what perhaps stood in a record while it was read is not known to the process', () => {
  expect(overInDoubt({ isSure: false })).toEqual([]);
  expect(overInDoubt({ isSure: true })).toEqual([expect.stringContaining('is overwritten that nobody contested')]);
});

/** So many employees get a value, and nobody is asked. */
function filled(many: number): string[] {
  const history = new History();
  for (let n = 0; n < many; n += 1) {
    const joined = { ...TO_PARTNER, here: { ...hris, record: `${n}` }, there: { ...partner, record: `${n}` } };
    const reader: Reader = { shown: new Map(), isDisturbed: false };
    history.edited(joined.there, `ada.${n}@example.org`);
    history.read(reader, joined.there, history.textAt(joined.there), { at: 0, isSure: true });
    history.wrote(joined.here, `ada.${n}@example.org`, { reader, joined: [joined], holds: true, at: 0 });
  }
  return history.violations;
}

test('20 first values and 21 other ones, of 105 people, are written unasked, and not one more', () => {
  expect(filled(41)).toEqual([]);
  expect(filled(42)).toEqual([expect.stringContaining('42 records are filled and nobody was asked')]);
});
