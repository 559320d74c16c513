import { statfs } from 'node:fs/promises'

// As Linux numbers them (linux/magic.h).
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
])

/** The kind of network file system that a folder is on; undefined where it is on this machine, as far as the system tells. */
export async function findNetworkFileSystem(
  dir: string,
  type = async (path: string) => (await statfs(path)).type,
): Promise<string | undefined> {
  return process.platform === 'linux' ? networkTypes.get((await type(dir)) >>> 0) : undefined
}
