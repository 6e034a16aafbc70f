/* The module itself: its functions and types in one place. */
#include "module.h"

PyObject *py_type_add(PyObject *module, PyType_Spec *spec, const char *name) {
    PyObject *type = PyType_FromSpec(spec);
    if (!type) return NULL;
    Py_INCREF(type);
    return PyModule_AddObject(module, name, type) < 0 ? NULL : type;
}

static int add_functions(PyObject *module) {
    PyMethodDef *const all[] = {PY_ENGINE_FUNCTIONS,  PY_REGISTER_FUNCTIONS, PY_BATCH_FUNCTIONS, PY_ALIGN_FUNCTIONS,
                                PY_LATTICE_FUNCTIONS, PY_NEEDLE_FUNCTIONS,   PY_SPACE_FUNCTIONS, PY_WISDOM_FUNCTIONS,
                                PY_CLOUD_FUNCTIONS,   PY_WATCH_FUNCTIONS};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        if (PyModule_AddFunctions(module, all[k]) < 0) return -1;
    return 0;
}

static struct PyModuleDef DEFINITION = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "attune._attune",
    .m_doc = "The part of attune that is written in C; the package attune is its interface.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__attune(void) {
    PyObject *module = PyModule_Create(&DEFINITION);
    if (!module) return NULL;
    if (add_functions(module) < 0 || py_errors_add(module) < 0 || py_engine_add(module) < 0 ||
        py_array_add(module) < 0 || py_unwrap_add(module) < 0 || py_program_add(module) < 0 ||
        py_search_add(module) < 0 || PyModule_AddStringConstant(module, "version", atn_version()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
