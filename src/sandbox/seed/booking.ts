import type { Context } from '../context.ts';
import type { Location, Question } from '../records/booking/booking-schedules.ts';
import { createSchedule } from '../records/booking/booking-schedules.ts';

const WEEKDAYS = [1, 2, 3, 4, 5];

const PLACES: Location[] = [
  {
    type: 'in_person',
    label: 'Head office',
    details: '1 Example Street, London',
    instructions: 'Ask for the hiring team at the desk.',
    lat: 51.5072,
    lng: -0.1276,
    photoUrls: ['https://photos.example.com/head-office.jpg'],
  },
  { type: 'video', label: 'Video call', details: 'https://video.example.com/open-day' },
];

const QUESTIONS: Question[] = [
  { id: 'shift', type: 'single_choice', label: 'Which shift suits you?', required: true, options: ['Day', 'Night'] },
  {
    id: 'languages',
    type: 'multi_choice',
    label: 'What do you speak?',
    required: false,
    options: ['English', 'Tagalog'],
  },
  { id: 'phone', type: 'phone', label: 'How do we reach you on the day?', required: true },
  { id: 'notes', type: 'textarea', label: 'Anything we should know?', required: false, maxLength: 500 },
];

/** One schedule of each profile, with free slots on every weekday. */
export function seedBooking(ctx: Context): void {
  createSchedule(ctx, {
    name: 'First interview',
    description: 'Half an hour with a recruiter.',
    durationMinutes: 30,
    timezone: 'Europe/London',
    bookingMode: 'ONLINE',
    scheduleProfile: 'INTERVIEW',
    visibleDaysAhead: 30,
    rescheduleCutoffHours: 24,
    availability: { days: WEEKDAYS, from: '09:00', to: '17:00', capacity: 1 },
  });
  createSchedule(ctx, {
    name: 'Open day',
    durationMinutes: 120,
    timezone: 'Asia/Manila',
    bookingMode: 'BOTH',
    scheduleProfile: 'EVENT',
    visibleDaysAhead: 60,
    allowCandidateReschedule: false,
    availability: { days: WEEKDAYS, from: '10:00', to: '14:00', capacity: 25 },
    locations: PLACES,
    questions: QUESTIONS,
  });
}
