import { argument, type Command, idTagArgument, readIdTag } from '../command.ts'
import { withProgram } from '../open-program.ts'
import { appointLeader } from './appoint-leader.ts'

export const leader: Command = {
  name: 'tenant leader',
  summary: 'Make an identity a leader of a community.',
  description:
    'For a community that has no leader any more, or whose only leader is to be suspended or purged. It also ends a block of the new leader by the community, but not a decision of the server’s administrators.',
  positionals: ['COMMUNITY', 'IDTAG'],
  options: {},
  async run(input) {
    const communityTag = readIdTag(argument(input, 'COMMUNITY'))
    const leaderTag = idTagArgument(input)
    await withProgram(input, (program) => appointLeader(program, { communityTag, leaderTag }))
    return {
      text: `${leaderTag} is a leader of ${communityTag}.`,
      data: { community: communityTag, leader: leaderTag },
    }
  },
}
