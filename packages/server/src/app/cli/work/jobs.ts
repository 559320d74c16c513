import { jobStates } from '@kith/protocol'
import { type ByAdmin, discardJob, listJobs, retryJob } from '#features/admin/index.ts'
import { argument, type Command, choiceOption, countOption, readCount } from '../command.ts'
import { columns } from '../help.ts'
import { type Program, withProgram } from '../open-program.ts'
import { getOperator } from '../operator.ts'

const mostListed = 1000

export const listJobsCommand: Command = {
  name: 'jobs list',
  summary: 'Show the jobs that were given up, or those that wait, the newest first.',
  description:
    'A job is work that the server does later: deliveries, mails, pictures, clearing up. What was given up is not tried again by itself, and forgotten after 30 days as a rule. What a job is to do is not shown.',
  positionals: [],
  options: {
    state: {
      type: 'string',
      value: jobStates.join('|'),
      meaning: '`failed` when absent. `waiting`: not finished, running ones included.',
    },
    limit: { type: 'string', value: 'N', meaning: `How many, at most ${mostListed}; 20 when absent.` },
  },
  async run(input) {
    const state = choiceOption(input, 'state', jobStates) ?? 'failed'
    const limit = countOption(input, 'limit', { most: mostListed, fallback: 20 })
    return withProgram(input, async ({ services, identity }) => {
      const { items: jobs, nextCursor } = await listJobs({ ...services, ...identity }, { state, limit })
      const rows = jobs.map((job) => [
        String(job.jobId),
        job.kind,
        job.tenant ?? '(server)',
        `${job.attempts} tried`,
        job.nextAttemptAt ?? job.lastAttemptAt ?? job.createdAt,
        oneLine(job.lastError ?? ''),
      ])
      const none = state === 'failed' ? 'No job was given up.' : 'No job waits.'
      const more = nextCursor === null ? [] : ['There are more: --limit']
      const text = rows.length === 0 ? none : [...columns(rows), ...more]
      return { text, data: { jobs, isComplete: nextCursor === null } }
    })
  },
}

// An error may be a page of HTML.
const longestError = 100

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ')
  return line.length > longestError ? `${line.slice(0, longestError - 1)}…` : line
}

export const retryJobCommand = changing({
  name: 'jobs retry',
  summary: 'Try a job again that was given up, with as many attempts as a new one.',
  description: 'A running server begins within seconds; without one the job waits for the next start.',
  done: 'is tried again',
  change: ({ services }, request) => retryJob(services, request),
})

export const discardJobCommand = changing({
  name: 'jobs discard',
  summary: 'Forget a job that was given up.',
  description: 'What it was to do is not done.',
  done: 'is forgotten',
  change: ({ services }, request) => discardJob(services, request),
})

interface JobChange extends Pick<Command, 'name' | 'summary'> {
  readonly description: string
  readonly done: string
  change(program: Program, request: ByAdmin & { readonly jobId: number }): Promise<void>
}

function changing({ done, change, ...shown }: JobChange): Command {
  return {
    ...shown,
    positionals: ['ID'],
    options: {},
    async run(input) {
      const jobId = readCount(argument(input, 'ID'), 'ID', Number.MAX_SAFE_INTEGER)
      return withProgram(input, async (program) => {
        await change(program, { ...(await getOperator(program)), jobId })
        return { text: `The job ${jobId} ${done}.`, data: { jobId } }
      })
    },
  }
}
