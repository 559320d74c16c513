import { BaseSequencer, type TestSpecification } from 'vitest/node'

const startsProcesses = /\/test\/services\/|\/infra\/images\/|\/app\/cli\//

/** Files that start processes take long for their size, by which files are ordered that have not run before. At the end
 * of a run one of them would let a core wait. */
export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const { slow = [], quick = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      startsProcesses.test(moduleId) ? 'slow' : 'quick',
    )
    return [...slow, ...quick]
  }
}
