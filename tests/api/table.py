# SPDX-License-Identifier: MIT
"""table.py - the table of preload/guestprof.h, by ctypes."""

import ctypes


class Api(ctypes.Structure):
    """struct guestprof_api, version 1."""
    _fields_ = [
        ("version", ctypes.c_uint32), ("size", ctypes.c_uint32),
        ("set_new", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p),
                                     ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t,
                                     ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t)),
        ("set_ref", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
        ("set_unref", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("set_count", ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)),
        ("profile_new", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p,
                                         ctypes.POINTER(ctypes.c_void_p))),
        ("profile_sample", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64)),
        ("profile_host_call", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)),
        ("profile_finish", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)),
        ("profile_drop", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("instance_label", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                                            ctypes.c_char_p, ctypes.c_char_p)),
    ]


def address(handle):
    return ctypes.cast(handle, ctypes.c_void_p).value


def api():
    """The preloaded library's; raises ValueError without it."""
    found = Api.in_dll(ctypes.CDLL(None), "guestprof_api")
    assert found.version >= 1 and found.size >= ctypes.sizeof(Api)
    return found
