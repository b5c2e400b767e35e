/** The requests of a check, in the order in which they are sent. */
// biome-ignore format: a line for each phase
export const REQUEST_NAMES = [
  'pets100', 'pets', 'inventory', 'orders', 'pets1', 'pets2', 'nextPage', 'available', 'pending', 'sold',
  'pet', 'largePet', 'unlistedPet', 'unknownPet',
  'limitText', 'petText', 'limit0', 'limit101', 'unseenFilter', 'unknownQuery', 'ordersPage', 'getOrder',
  'petsNoKey', 'petNoKey', 'inventoryNoKey', 'ordersNoKey', 'petsUnknownKey', 'petsInvalidKey', 'limitTextNoKey',
  'otherOrigin', 'preflight', 'petsReadOnly',
  'create', 'createPending', 'created', 'inventoryCreated',
  'stock5', 'cancel', 'petAt5', 'ordersCancelled', 'inventoryCancelled', 'cancelAgain',
  'stock0', 'petAt0', 'stock3', 'inventoryKept', 'stockNegative', 'stockText', 'stockNothing', 'stockNoKey',
  'createLongName', 'createNoKey', 'createNoName', 'createWithId', 'createUnknownField', 'createUnseenStatus',
  'createNoCategory', 'createAsText', 'createOver10kb', 'createOver1mb', 'createReadOnly',
  'cancelUnknown', 'cancelNoKey', 'cancelShipped', 'cancelCancelled',
  'petsAgain', 'petsStill', 'burst',
] as const;

export type RequestName = (typeof REQUEST_NAMES)[number];
