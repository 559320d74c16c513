/** The code of what could be deleted, for screens other than those of files. */
export const loadRoomTakers = async () => (await import('./room-takers.tsx')).RoomTakers
