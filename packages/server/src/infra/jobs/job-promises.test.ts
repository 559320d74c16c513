import fc from 'fast-check'
import Type from 'typebox'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import { flushMicrotasks, jobsLab, type LabNode, someTenant } from '#harness/jobs-lab.ts'
import { serverTenant } from '#infra/db/index.ts'
import { countByState, JobVerdict, jobKind } from './index.ts'

const task = jobKind({
  name: 'task',
  payload: Type.Object({ index: Type.Integer() }),
  retry: { maxAttempts: 100, firstDelayMs: 500, longestDelayMs: 4000 },
  concurrency: 3,
  keepDoneMs: 0,
  group: { concurrency: 2, breakerFailures: 4, restMs: 2000, longestRestMs: 8000 },
})

/** A job and what its handler will do: fail so often, then succeed or say that it is dead. */
interface Task {
  readonly orderingKey: string | undefined
  readonly groupKey: string
  readonly failures: number
  readonly ends: 'done' | 'dead'
  readonly turns: number
}

type Step =
  | { readonly do: 'enqueue'; readonly tasks: readonly Task[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'crash'; readonly node: number; readonly returnsAs: 'itself' | 'another' }

const someTask = fc.record<Task>({
  orderingKey: fc.constantFrom(undefined, 'x', 'y', 'z'),
  groupKey: fc.constantFrom('g', 'h'),
  failures: fc.constantFrom(0, 0, 0, 1, 2),
  ends: fc.constantFrom('done', 'done', 'done', 'dead'),
  turns: fc.nat(4),
})
const someStep = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.record({ do: fc.constant('enqueue'), tasks: fc.array(someTask, { minLength: 1, maxLength: 6 }) }),
  fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(1, 300, 1000, 7000) }),
  fc.record({
    do: fc.constant('crash'),
    node: fc.nat(1),
    returnsAs: fc.constantFrom('itself', 'another'),
  }),
)

eachDialect('jobs in any order of events', (open) => {
  const newLab = jobsLab(open)

  /** Two nodes that note what they do; one that crashes is replaced at once. */
  async function newWorld() {
    const lab = await newLab()
    const tasks: Task[] = []
    const begun: number[] = []
    const succeeded = new Set<number>()
    const running = new Map<number, LabNode>()
    const problems: string[] = []
    let lives = 0

    async function startNode(nodeId: string): Promise<LabNode & { nodeId: string }> {
      const node = lab.addNode(nodeId, { leaseMs: 6000 })
      const isLive = () => nodes.includes(live)
      const live = { ...node, nodeId }
      node.jobs.handle(task, async ({ index }, { attempt }) => {
        const own = tasks[index]
        // A process that was killed between the lease and the beginning does nothing more.
        if (!own || !isLive()) return
        check(index, own)
        begun.push(index)
        running.set(index, node)
        await flushMicrotasks(own.turns)
        if (running.get(index) === node) running.delete(index)
        if (attempt <= own.failures) throw new Error('fails')
        if (own.ends === 'dead') throw new JobVerdict('never', { kind: 'dead' })
        if (isLive()) succeeded.add(index)
      })
      await node.jobs.start()
      return live
    }

    function check(index: number, own: Task): void {
      const others = [...running.keys()].flatMap((other) => tasks[other] ?? [])
      if (running.has(index)) problems.push(`${index} began twice at once`)
      if (own.orderingKey !== undefined && others.some(({ orderingKey }) => orderingKey === own.orderingKey))
        problems.push(`${index} began beside another of its order`)
      if (others.filter(({ groupKey }) => groupKey === own.groupKey).length >= 2)
        problems.push(`${index} began beside two of its group`)
    }

    const nodes: (LabNode & { nodeId: string })[] = []
    nodes.push(await startNode('a'))
    nodes.push(await startNode('b'))
    return {
      ...lab,
      tasks,
      begun,
      succeeded,
      problems,
      async enqueue(added: readonly Task[]) {
        const first = tasks.length
        tasks.push(...added)
        await lab.db.transact(someTenant, async (tx) =>
          nodes[0]?.jobs.enqueueAll(
            tx,
            task,
            added.map(({ orderingKey, groupKey }, place) => ({
              payload: { index: first + place },
              options: { groupKey, ...(orderingKey === undefined ? {} : { orderingKey }) },
            })),
          ),
        )
      },
      async crash(place: number, returnsAs: 'itself' | 'another') {
        const victim = nodes[place]
        if (!victim) return
        victim.crash()
        nodes.splice(nodes.indexOf(victim), 1)
        for (const [index, node] of running) if (node.jobs === victim.jobs) running.delete(index)
        lives += 1
        nodes.push(await startNode(returnsAs === 'itself' ? victim.nodeId : `node ${lives}`))
      },
      /** In steps shorter than a lease, so that what runs can be renewed. */
      async pass(ms: number) {
        for (let leftMs = ms; leftMs > 0; leftMs -= 1000) {
          lab.clock.advance(Math.min(leftMs, 1000))
          for (const { jobs } of nodes) await jobs.settle()
        }
      },
      /** A server has no connections for all worlds at once. */
      async end() {
        for (const node of nodes) await node.stop()
        await lab.db.close()
      },
      async countUnfinished() {
        const counts = await countByState(lab.db.reader(serverTenant))
        return counts
          .filter(({ kind, state }) => kind === 'task' && state !== 'dead')
          .reduce((sum, { count }) => sum + count, 0)
      },
    }
  }

  test('keep their order, run at least once, and never two of an order or three of a group at once', async () => {
    const property = fc.asyncProperty(fc.array(someStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = await newWorld()
      for (const step of steps) {
        if (step.do === 'enqueue') await world.enqueue(step.tasks)
        else if (step.do === 'crash') await world.crash(step.node, step.returnsAs)
        else await world.pass(step.ms)
        await flushMicrotasks(step.do === 'enqueue' ? step.tasks.length : 0)
      }
      for (let rounds = 0; (await world.countUnfinished()) > 0; rounds += 1) {
        if (rounds > 100) throw new Error('Some jobs never end')
        await world.pass(2000)
      }
      expect(world.problems).toEqual([])
      const { tasks, begun, succeeded } = world
      // Each has run to its end.
      expect([...new Set(begun)].sort(byNumber)).toEqual(tasks.map((_, index) => index))
      const toSucceed = tasks.flatMap(({ ends }, index) => (ends === 'done' ? [index] : []))
      expect([...succeeded].sort(byNumber)).toEqual(toSucceed)
      // None began when one that was added after it in its order had begun.
      for (const key of ['x', 'y', 'z']) {
        const ofKey = begun.filter((index) => tasks[index]?.orderingKey === key)
        expect(ofKey).toEqual([...ofKey].sort(byNumber))
      }
      await world.end()
    })
    // A counterexample is printed with its seed.
    await fc.assert(property, { numRuns: open.runs(7), endOnFailure: true })
  })
})

function byNumber(a: number, b: number): number {
  return a - b
}
