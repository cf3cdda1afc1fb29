import { type Problem, problemAt, type YamlFile } from '../../yaml/yaml-file.ts';
import { findIdPlaces, type IdPlace } from './id-places.ts';
import { type Edit, labelComments } from './label-comments.ts';
import { type NamedThing, type NamedThings, settleId } from './settle-id.ts';

/**
 * The text of a tenant file with an id wherever a label stood, and the label as a comment at the end of the line;
 * every other character stays. Where anything is unclear, the problems instead. Pure.
 */
export function fillIds(source: YamlFile, things: NamedThings): { text: string } | { problems: Problem[] } {
  const { places, problems } = findIdPlaces(source);
  const settled: { place: IdPlace; thing: NamedThing }[] = [];
  for (const place of places) {
    const found = settleId(place, things[place.kind]);
    if (found === 'leave') continue;
    if ('refusal' in found) problems.push(problemAt(source, place.path, found.refusal));
    else settled.push({ place, thing: found.thing });
  }
  if (problems.length > 0) return { problems: problems.toSorted((a, b) => a.line - b.line || a.column - b.column) };
  const ids = settled
    .filter(({ place, thing }) => place.wanted !== thing.id)
    .map(({ place: { start, end }, thing }): Edit => ({ start, end, text: JSON.stringify(thing.id) }));
  const labels = settled.map(({ place, thing }) => ({ after: place.end, label: thing.label }));
  return { text: applyEdits(source.text, [...ids, ...labelComments(source.text, labels)]) };
}

/** From the end on, so that offsets stay true. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, edit) => now.slice(0, edit.start) + edit.text + now.slice(edit.end), text);
}
