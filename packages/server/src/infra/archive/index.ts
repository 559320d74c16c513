export { type ArchivedFile, readArchive, readText } from './read-archive.ts'
export { type ArchiveWriter, createArchive } from './write-archive.ts'
