// OpenCL C: where doubles occur.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
