import { describe, expect, test } from 'vitest';
import { many, none, one, unproven } from './findings.ts';
import { type Answered, linkedTo, story, type World } from './plan-of-hire.ts';

const retry = (meanwhile: World = {}): Answered => ({ answer: 'retry', meanwhile });
const create = (meanwhile: World = {}): Answered => ({ answer: 'create', meanwhile });
const link = (argument: string, meanwhile: World = {}): Answered => ({ answer: 'link', argument, meanwhile });

type Told = [what: string, World, Answered[], string[]];

describe('asked whether a record is this person', () => {
  const namesake: World = { findings: [none('reference'), one('email', '7')], employees: ['7', '8'] };
  const twice: World = { findings: [none('reference'), many('email', '7', '8')], employees: ['7', '8'] };
  const ASKED = 'IDENTITY_AMBIGUOUS';

  test.each<Told>([
    ['it is the one shown', namesake, [link('7')], [ASKED, 'link 7']],
    ['it is one that nobody showed', namesake, [link('8')], [ASKED, 'link 8']],
    ['it is one of two', twice, [link('8')], [ASKED, 'link 8']],
    ['it is somebody else of that e-mail', namesake, [create()], [ASKED, 'create']],
    ['it is neither of two', twice, [create()], [ASKED, 'create']],
    ['nothing has changed', namesake, [retry()], [ASKED, ASKED]],
    [
      'the e-mail was corrected in the HR system',
      namesake,
      [retry({ findings: [none('reference'), none('email')] })],
      [ASKED, 'create'],
    ],
    [
      'the record was given our reference by hand',
      namesake,
      [retry({ findings: [one('reference', '7'), one('email', '7')] })],
      [ASKED, 'link 7'],
    ],
    [
      'the record was given the number of the application',
      namesake,
      [retry({ findings: [none('reference'), one('number', '7'), one('email', '7')] })],
      [ASKED, 'link 7'],
    ],
    [
      'the double record was merged in the HR system: who is left is asked about',
      twice,
      [retry({ findings: [none('reference'), one('email', '7')] }), link('7')],
      [ASKED, ASKED, 'link 7'],
    ],
    [
      'none of them, and another comes to light before the create',
      namesake,
      [create({ findings: [none('reference'), many('email', '7', '9')] }), create()],
      [ASKED, ASKED, 'create'],
    ],
    [
      'none of them, and the one denied takes the reference: a denial is not undone by a key',
      namesake,
      [create({ findings: [one('reference', '7'), one('email', '7')] })],
      [ASKED, 'create'],
    ],
    [
      'none of them, and our reference appears on another record',
      namesake,
      [create({ findings: [one('reference', '9'), one('email', '7')] })],
      [ASKED, 'link 9'],
    ],
    [
      'the right record is made by hand and named',
      namesake,
      [link('9', { employees: ['7', '8', '9'] })],
      [ASKED, 'link 9'],
    ],
    [
      'two keys show two records, and both are somebody else',
      { findings: [one('number', '7'), one('person', '8')] },
      [create()],
      [ASKED, 'create'],
    ],
  ])('%s', (_what, world, answers, expected) => {
    expect(story(world, answers)).toEqual(expected);
  });
});

describe('asked because the HR system cannot prove that there is nobody', () => {
  const blind: World = { findings: [unproven('reference'), unproven('email')], employees: ['7'] };
  const ASKED = 'IDENTITY_AMBIGUOUS';

  test.each<Told>([
    ['there is nobody', blind, [create()], [ASKED, 'create']],
    ['there is one, under another name', blind, [link('7')], [ASKED, 'link 7']],
    [
      'there is nobody, and somebody of that e-mail appears: a word about nobody is none about them',
      blind,
      [create({ findings: [unproven('reference'), one('email', '7')] })],
      [ASKED, ASKED],
    ],
    [
      'there is nobody, two appear, and they are somebody else: the first word counts again',
      blind,
      [create({ findings: [unproven('reference'), many('person', '7', '8')] }), create()],
      [ASKED, ASKED, 'create'],
    ],
    [
      'there is nobody, and the next reading finds our reference',
      blind,
      [create({ findings: [one('reference', '7')] })],
      [ASKED, 'link 7'],
    ],
    [
      'the filter works by now',
      blind,
      [retry({ findings: [none('reference'), unproven('email')] })],
      [ASKED, 'create'],
    ],
    ['the filter still does not work', blind, [retry()], [ASKED, ASKED]],
  ])('%s', (_what, world, answers, expected) => {
    expect(story(world, answers)).toEqual(expected);
  });
});

describe('an employee named by hand', () => {
  const asked: World = { findings: [none('reference'), one('email', '7')], employees: ['7', '8'] };
  const first = 'IDENTITY_AMBIGUOUS';

  test.each<Told>([
    ['is nobody: asked again', asked, [link('404')], [first, 'LINK_NOT_FOUND']],
    ['is nobody, then the right one', asked, [link('404'), link('8')], [first, 'LINK_NOT_FOUND', 'link 8']],
    [
      'is nobody, and is made in the HR system',
      asked,
      [link('9'), retry({ employees: ['7', '8', '9'] })],
      [first, 'LINK_NOT_FOUND', 'link 9'],
    ],
    ['is nobody, twice', asked, [link('404'), link('405')], [first, 'LINK_NOT_FOUND', 'LINK_NOT_FOUND']],
    [
      'is nobody, then none at all: who was shown before is asked about again',
      asked,
      [link('404'), create()],
      [first, 'LINK_NOT_FOUND', first],
    ],
    [
      'is nobody, then none at all, of whom nobody is left',
      asked,
      [link('404'), create({ findings: [none('reference'), none('email')] })],
      [first, 'LINK_NOT_FOUND', 'create'],
    ],
    [
      'is another person’s: not taken from them',
      { ...asked, links: [linkedTo('8', 'somebody')] },
      [link('8')],
      [first, 'EMPLOYEE_OF_ANOTHER'],
    ],
    [
      'is another person’s, then the right one',
      { ...asked, links: [linkedTo('8', 'somebody')] },
      [link('8'), link('7')],
      [first, 'EMPLOYEE_OF_ANOTHER', 'link 7'],
    ],
    [
      'is another person’s, insisted upon',
      { ...asked, links: [linkedTo('8', 'somebody')] },
      [link('8'), link('8')],
      [first, 'EMPLOYEE_OF_ANOTHER', 'EMPLOYEE_OF_ANOTHER'],
    ],
    [
      'is another person’s until somebody corrects it',
      { ...asked, links: [linkedTo('8', 'somebody')] },
      [link('8'), retry({ links: [] })],
      [first, 'EMPLOYEE_OF_ANOTHER', 'link 8'],
    ],
    [
      'is another person’s, then none at all: who was found is still to be asked about',
      { ...asked, links: [linkedTo('8', 'somebody')] },
      [link('8'), create(), create()],
      [first, 'EMPLOYEE_OF_ANOTHER', first, 'create'],
    ],
    [
      'is this person’s from another application',
      { ...asked, links: [linkedTo('8', 'ada')] },
      [link('8')],
      [first, 'link 8'],
    ],
  ])('%s', (_what, world, answers, expected) => {
    expect(story(world, answers)).toEqual(expected);
  });
});

describe('our reference stands on another person’s employee', () => {
  const taken: World = {
    findings: [one('reference', '7')],
    links: [linkedTo('7', 'somebody')],
    employees: ['7', '8'],
  };
  const ASKED = 'EMPLOYEE_OF_ANOTHER';

  test.each<Told>([
    ['nothing has changed', taken, [retry()], [ASKED, ASKED]],
    ['another employee is this person', taken, [link('8')], [ASKED, 'link 8']],
    ['this person is to get one of their own', taken, [create()], [ASKED, 'create']],
    ['the reference was taken off', taken, [retry({ findings: [none('reference')] })], [ASKED, 'create']],
    ['the reference was moved', taken, [retry({ findings: [one('reference', '8')] })], [ASKED, 'link 8']],
    [
      'one of their own, and the e-mail shows a third',
      { ...taken, findings: [one('reference', '7'), one('email', '8')] },
      [create(), create()],
      [ASKED, 'IDENTITY_AMBIGUOUS', 'create'],
    ],
  ])('%s', (_what, world, answers, expected) => {
    expect(story(world, answers)).toEqual(expected);
  });
});

describe('the mapping lacks a field', () => {
  const lacking: World = {
    problems: [{ field: 'startDate', code: 'MISSING', text: 'startDate is empty.' }],
    findings: [none('reference')],
  };

  test.each<Told>([
    ['nobody filled it', lacking, [retry()], ['MAPPING_INCOMPLETE', 'MAPPING_INCOMPLETE']],
    ['somebody filled it', lacking, [retry({ problems: [] })], ['MAPPING_INCOMPLETE', 'create']],
    [
      'somebody filled it, and only then the person is looked up',
      { ...lacking, findings: [one('email', '7')] },
      [retry({ problems: [] }), create()],
      ['MAPPING_INCOMPLETE', 'IDENTITY_AMBIGUOUS', 'create'],
    ],
    [
      'it is emptied again after the answer about the person: asked before anybody is made',
      { findings: [one('email', '7')], employees: ['7'] },
      [create({ problems: lacking.problems ?? [] }), retry({ problems: [] })],
      ['IDENTITY_AMBIGUOUS', 'MAPPING_INCOMPLETE', 'create'],
    ],
    [
      'it is emptied again after the answer that names the employee, whom a link does not write to',
      { findings: [one('email', '7')], employees: ['7'] },
      [link('7', { problems: lacking.problems ?? [] })],
      ['IDENTITY_AMBIGUOUS', 'link 7'],
    ],
  ])('%s', (_what, world, answers, expected) => {
    expect(story(world, answers)).toEqual(expected);
  });
});
