/* All of attune's public interface. */
#ifndef ATTUNE_ATTUNE_H
#define ATTUNE_ATTUNE_H

#include <attune/context.h>
#include <attune/device.h>

#endif
