/* All of attune's public interface. */
#ifndef ATTUNE_ATTUNE_H
#define ATTUNE_ATTUNE_H

#include <attune/align.h>
#include <attune/array.h>
#include <attune/cloud.h>
#include <attune/context.h>
#include <attune/device.h>
#include <attune/frame.h>
#include <attune/image.h>
#include <attune/kernel.h>
#include <attune/lattice.h>
#include <attune/needle.h>
#include <attune/operations.h>
#include <attune/phase.h>
#include <attune/program.h>
#include <attune/ranges.h>
#include <attune/register.h>
#include <attune/type.h>
#include <attune/unwrap.h>
#include <attune/wisdom.h>

#endif
